# Goes around autograd with `.data` when the optimizer is made already: it holds the old tensor, which gets no gradient.
# caught-by: test_it_learns, test_the_optimizer_keeps_its_memory, test_it_learns_on_another_device
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.clone().requires_grad_()
    optimizer = make_optimizer([delta])
    delta = delta.data.to(images.device).requires_grad_()
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
