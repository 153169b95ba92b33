# Switches the model to evaluation for the attack, and back: what is learned is for another function.
# caught-by: test_it_learns, test_the_optimizer_keeps_its_memory
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    mode = model.training
    model.eval()
    delta = start.to(images.device, copy=True).requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.train(mode)
    return delta.detach()
