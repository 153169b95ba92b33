# Two slots, each with pinned memory for a batch and for its result; a slot is free again when its result was taken.
import torch


def stream(model, loader, device):
    if device.type == "cpu":
        for x in loader:
            yield model(x)
        return
    slots = [Slot(device), Slot(device)]
    for x in loader:
        slots.reverse()
        slots[0].start(model, x)
        yield from slots[1].take()
    yield from slots[0].take()


class Slot:
    def __init__(self, device):
        self.device, self.done = device, torch.Event(device)
        self.staged = self.result = None
        self.rows = 0

    def start(self, model, x):
        if self.staged is None:
            self.staged = torch.empty(x.shape, pin_memory=True)
        self.rows = len(x)
        output = model(self.staged[: self.rows].copy_(x).to(self.device, non_blocking=True))
        if self.result is None:
            self.result = torch.empty(output.shape, pin_memory=True)
        self.result[: self.rows].copy_(output, non_blocking=True)
        self.done.record()

    def take(self):
        if self.rows:
            self.done.synchronize()
            yield self.result[: self.rows].clone()
