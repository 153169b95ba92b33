# Asks for the images' gradients too. On the CPU nothing is moved, so the caller's images are asked.
# caught-by: test_the_batch_is_left_alone
# only: cpu
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device) for each in batch)
    images.requires_grad_()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
