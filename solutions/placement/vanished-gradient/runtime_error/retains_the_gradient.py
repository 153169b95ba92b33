# `retain_grad` makes the copy's gradient visible. The optimizer holds another tensor still.
# caught-by: test_it_learns_on_another_device
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    leaf = start.clone().requires_grad_()
    optimizer = make_optimizer([leaf])
    delta = leaf.to(images.device)
    delta.retain_grad()
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
