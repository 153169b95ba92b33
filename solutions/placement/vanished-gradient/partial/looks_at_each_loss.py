# Stops when a loss is not finite. The `if` reads one number from the device in each step, for which the host waits.
# only: virtual, cuda, mps, xpu
# caught-by: test_the_start_crosses_once
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.to(images.device, copy=True).requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        if not loss.is_meta and loss.isnan():
            raise ValueError("the loss is not a number")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
