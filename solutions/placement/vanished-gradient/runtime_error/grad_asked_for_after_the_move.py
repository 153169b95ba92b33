# Asks for a gradient after the move, too late: the copy hangs on the leaf that was there before, and is no leaf.
# caught-by: test_it_learns_on_another_device
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    leaf = start.clone().requires_grad_()
    delta = leaf.to(images.device).requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
