# Learns the way from the start, which is a leaf on the device; the start itself is copied there in each step.
# only: virtual, cuda, mps, xpu
# caught-by: test_the_start_crosses_once
import torch
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    way = torch.zeros_like(start, device=images.device, requires_grad=True)
    optimizer = make_optimizer([way])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + start.to(images.device) + way), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return start.to(images.device) + way.detach()
