# The pinned buffer is filled again while the copy from it may still be waiting for its turn.
# only: virtual, cuda
# caught-by: test_pinned_memory_is_left_alone
import torch


def stream(model, loader, device):
    if device.type == "cpu":
        yield from map(model, loader)
        return
    staging = before = None
    for x in loader:
        if staging is None:
            staging = torch.empty_like(x, pin_memory=True)
        staging[: len(x)].copy_(x)
        output = model(staging[: len(x)].to(device, non_blocking=True))
        result = output.to("cpu", non_blocking=True)
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
