# The line that empties the gradient was lost in the repair.
# caught-by: test_it_learns, test_the_optimizer_keeps_its_memory
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.to(images.device, copy=True).requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        loss.backward()
        optimizer.step()
    return delta.detach()
