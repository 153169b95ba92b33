# To be on the safe side, the model is moved too, in every step.
# caught-by: test_the_model_is_not_moved
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    model.to(device)
    images, labels = (each.to(device) for each in batch)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
