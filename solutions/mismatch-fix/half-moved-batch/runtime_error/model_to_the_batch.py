# The mountain goes to the prophet: no error any more on a GPU, and no GPU either.
# caught-by: test_each_batch_crosses_once, test_the_model_is_not_moved
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = batch
    model.to(images.device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
