# A new leaf and a new optimizer in each step: the values are right until the optimizer has something to remember.
# caught-by: test_the_optimizer_keeps_its_memory
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.to(images.device, copy=True)
    for _ in range(steps):
        delta = delta.detach().requires_grad_()
        optimizer = make_optimizer([delta])
        loss = -F.cross_entropy(model(images + delta), labels)
        loss.backward()
        optimizer.step()
    return delta.detach()
