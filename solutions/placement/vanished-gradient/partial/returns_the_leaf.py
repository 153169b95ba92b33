# Returns the leaf itself: whatever the caller computes with it is recorded, and kept in memory.
# caught-by: test_it_learns
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.to(images.device, copy=True).requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta
