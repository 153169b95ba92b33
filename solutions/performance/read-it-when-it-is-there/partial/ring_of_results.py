# Eight pinned buffers for the results, one after the other: whoever keeps a result has another one in its place later.
# only: virtual, cuda
# caught-by: test_the_results_stay
import torch


def stream(model, loader, device):
    if device.type == "cpu":
        yield from map(model, loader)
        return
    buffers, before = {}, None
    for step, x in enumerate(loader):
        output = model(x.pin_memory().to(device, non_blocking=True))
        if step % 8 not in buffers:
            buffers[step % 8] = torch.empty(output.shape, pin_memory=True)
        result = buffers[step % 8][: len(x)]
        result.copy_(output, non_blocking=True)
        arrived = torch.Event(device)
        arrived.record()
        if before is not None:
            yield receive(*before)
        before = result, arrived
    if before is not None:
        yield receive(*before)


def receive(result, arrived):
    arrived.synchronize()
    return result
