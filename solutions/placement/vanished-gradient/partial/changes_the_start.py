# On an accelerator `to` makes a copy. On the CPU it returns the caller's tensor, which is then learned in place.
# caught-by: test_the_start_is_left_alone
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.to(images.device).detach().requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
