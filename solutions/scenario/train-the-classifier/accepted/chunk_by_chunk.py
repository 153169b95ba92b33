# Goes on where it failed: a chunk's gradient is asked for, and added to the batch's only when the chunk is done.
import torch
from torch import nn


class Trainer:
    def __init__(self, model, class_weights, device, rate):
        self.model, self.device, self.rows = model.to(device), device, None
        self.class_weights = class_weights
        self.criterion = nn.CrossEntropyLoss(weight=class_weights, reduction="sum").to(device)
        self.parameters = [each for each in model.parameters() if each.requires_grad]
        self.optimizer = torch.optim.SGD(self.parameters, lr=rate, momentum=0.9)

    def epoch(self, loader):
        self.model.train()
        total, weight = torch.zeros((), device=self.device), 0.0
        for images, labels in loader:
            share = float(self.class_weights[labels].sum())
            total += self.batch(images, labels, share)
            weight += share
        return total.item() / weight

    def batch(self, images, labels, share):
        for each in self.parameters:
            each.grad = torch.zeros_like(each)
        loss, start = 0, 0
        while start < len(images):
            end = start + (self.rows or len(images))
            got = self.chunk(images[start:end], labels[start:end])
            if got is None:
                self.rows = len(images[start:end]) // 2
                continue
            start = end
            part, grads = got
            loss += part
            for parameter, grad in zip(self.parameters, grads):
                parameter.grad += grad / share
        self.optimizer.step()
        return loss

    def chunk(self, images, labels):
        """The sum of the chunk's losses and its gradients, or None if there is no memory for them."""
        try:
            loss = self.criterion(self.model(images.to(self.device)), labels.to(self.device))
            return loss.detach(), torch.autograd.grad(loss, self.parameters)
        except torch.OutOfMemoryError:
            if len(images) == 1:
                raise
        return None

    def confusion(self, loader):
        self.model.eval()
        classes = len(self.class_weights)
        table = torch.zeros(classes, classes, device=self.device)
        with torch.inference_mode():
            for images, labels in loader:
                predicted = self.model(images.to(self.device)).argmax(dim=1)
                one_hot = torch.eye(classes, device=self.device)
                table += one_hot[labels.to(self.device)].T @ one_hot[predicted]
        return table.cpu().long()


def fit(model, train, val, class_weights, device, *, epochs, rate, path):
    mode = model.training
    trainer = Trainer(model, class_weights, device, rate)
    told = [(trainer.epoch(train), trainer.confusion(val)) for _ in range(epochs)]
    model.train(mode)
    torch.save({key: value.to("cpu") for key, value in model.state_dict().items()}, path)
    return {"losses": [loss for loss, _ in told], "confusion": torch.stack([table for _, table in told])}
