# Every batch is queued, and one wait serves all; the first result comes when the last batch is there.
# caught-by: test_results_are_not_late
import torch


def stream(model, loader, device):
    for each in [send(model, x, device) for x in loader]:
        yield receive(*each)


def send(model, x, device):
    if device.type == "cpu":
        return model(x), None
    output = model(x.pin_memory().to(device, non_blocking=True))
    result = output.to("cpu", non_blocking=True)
    arrived = torch.Event(device)
    arrived.record()
    return result, arrived


def receive(result, arrived):
    if arrived is not None:
        arrived.synchronize()
    return result
