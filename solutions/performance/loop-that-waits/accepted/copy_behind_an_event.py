# The numbers travel while the next step is queued: a copy that does not wait, and an event behind it.
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    recorder = Recorder(device, log)
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        hits = (logits.argmax(dim=1) == y).to(loss.dtype).mean()
        recorder.note(torch.stack((loss.detach(), hits)))
        if recorder.stopped:
            return
    recorder.close()


class Recorder:
    def __init__(self, device, log):
        self.device, self.log = device, log
        self.waiting, self.travelling, self.logged, self.stopped = [], None, 0, False

    def note(self, pair):
        self.arrive()
        self.waiting.append(pair)
        if len(self.waiting) == 10:
            self.send()

    def send(self):
        rows = torch.stack(self.waiting).to("cpu", non_blocking=True)
        event = None
        if self.device.type != "cpu":
            event = torch.Event(self.device)
            event.record()
        self.waiting, self.travelling = [], (rows, event)

    def arrive(self):
        if self.travelling is None:
            return
        rows, event = self.travelling
        self.travelling = None
        if event is not None:
            event.synchronize()
        for loss, accuracy in rows.tolist():
            if self.stopped:
                return
            self.log(self.logged, loss, accuracy)
            self.logged += 1
            self.stopped = not math.isfinite(loss)

    def close(self):
        self.arrive()
        if self.waiting and not self.stopped:
            self.send()
            self.arrive()
