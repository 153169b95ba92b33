# Whoever waits for an event that was never recorded does not wait.
# only: virtual, cuda
# caught-by: test_the_results_are_right
import torch


def stream(model, loader, device):
    before = None
    for x in loader:
        now = send(model, x, device)
        if before is not None:
            yield receive(*before)
        before = now
    if before is not None:
        yield receive(*before)


def send(model, x, device):
    if device.type == "cpu":
        return model(x), None
    output = model(x.pin_memory().to(device, non_blocking=True))
    result = output.to("cpu", non_blocking=True)
    arrived = torch.Event(device)
    return result, arrived


def receive(result, arrived):
    if arrived is not None:
        arrived.synchronize()
    return result
