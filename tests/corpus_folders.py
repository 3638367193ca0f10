"""A small folder of every corpus in the set's own shape, made up here, for tests of all of them."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no video")


def write_csv(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False))


def write_parquet(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def videophy(folder):
    rows = []
    for number in range(12):
        name = f"examples/A_ball,_thrown_{number}.mp4"
        rows.append({"videopath": name, "caption": f"A ball, thrown {number // 4}.", "sa": 1})
        rows[-1]["pc"] = number % 2
        touch(folder, name)
    write_csv(folder / "train.csv", rows)


def videophy2(folder):
    rows = []
    for number in range(15):
        model = ("wan", "sora")[number % 2]
        touch(folder, f"videos/{model}/ball_{number}.mp4")
        rows.append(
            {
                "caption": f"Ball {number}.",
                "video_url": f"https://host/{model}/ball_{number}.mp4",
                "model_name": model,
                "sa": 4,
                "pc": 1 + number % 5,
                "joint": 0,
                "action": ("golf", "diving")[number % 2],
                "physics_rules_followed": "['It falls.', \"It doesn't float.\"]",
                "physics_rules_unfollowed": "[]" if number else "",
                "is_hard": number % 2,
            }
        )
    write_csv(folder / "videophy2_test.csv", rows)


def raw_entry(name, generator, score):
    def label(words, value):
        return {"_id": "x", "data": {"id": 1, "hash": words, "label": words, "value": value}}

    return {
        "_id": name,
        "batchId": "b",
        "info": {
            "data": [
                {"content": "PROMPT", "type": "TITLE"},
                {"content": f"English Prompt: A cup falls, {name}. \n翻译", "type": "TEXT"},
                {
                    "content": f"https://host/VideoScore/0_9/{generator}/{name}.mp4",
                    "type": "VIDEO",
                },
                {"content": "src_id: 1  src: vidprom", "type": "TEXT"},
            ]
        },
        "labels": [
            label("1_视觉质量评分", "5-Very Good"),
            label("1_视觉质量描述", " "),
            label("1_文本符合度评分", 4),
            label("1_文本符合度描述", "No cup."),
            label("1_物理符合度评分", score),
            label("1_物理符合度描述", "It floats."),
        ],
    }


def videofeedback2(folder):
    words = ("1-Very Poor", 2, "3-Medium", "4-Relatively Good", 5)
    raw = [raw_entry(f"{n:06d}_a", ("kling", "mochi")[n % 2], words[n % 5]) for n in range(10)]
    write_json(folder / "anno_raw" / "1.json", raw)
    sft = [
        {
            "conversations": [
                {"from": "human", "value": f"<video> its text prompt: \nA cup {n}.\n"},
                {
                    "from": "gpt",
                    "value": "<think>I gave physical/common-sense consistency: 1 first</think>\n"
                    f"(1) visual quality: 3\n(2) text-to-video alignment: 3\n"
                    f"(3) physical/common-sense consistency: {1 + n % 5}\n",
                },
            ],
            "videos": [f"videos/{n:06d}_b.mp4"],
        }
        for n in range(10)
    ]
    write_json(folder / "sft_17k.json", sft)
    rl = [
        {
            "problem_id": f"{n:06d}_c",
            "problem": "Rate it. its text prompt: A cup.",
            "solution": f"<answer>visual quality: 3; text-to-video alignment: 2; "
            f"physical/common-sense consistency: {1 + n % 5}</answer>",
            "path": f"./vs2_videos/{n:06d}_c.mp4",
        }
        for n in range(5)
    ]
    write_json(folder / "rl.json", rl)
    bench = [
        {
            "video_name": f"{n:06d}_d",
            "prompt": "A cup.",
            "visual_score": 3,
            "t2v_score": 3,
            "phy_score": 1 + n % 5,
            "thinking": "",
        }
        for n in range(5)
    ]
    write_json(folder / "bench_500.json", bench)
    touch(folder, *(f"videos/{n:06d}_{side}.mp4" for n in range(10) for side in "abcd"))


def broken_videos(folder):
    dice = np.random.default_rng(0)
    rows = []
    for number in range(6):
        name = f"tongyi_{number:05d}"
        touch(folder, f"videos/{name}.mp4")
        masks = np.zeros((4, 8, 8), np.uint8)
        masks[: number + 1, : number + 2, : number + 2] = dice.integers(1, 255)
        (folder / "masks").mkdir(exist_ok=True)
        np.save(folder / "masks" / f"{name}.npy", masks)
        rows.append({"id": f"videos/{name}.mp4", "area": number / 5, "centre": 0.5})
        rows[-1] |= {"presence": 1.0, "composite": 0.6 * number / 5 + 0.25}
    (folder / "composites.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def impossible_videos(folder):
    answers, taxonomy = {}, {}
    for number in range(6):
        real, fake = f"real_{number}.mp4", f"sora_{number:04d}_ab.mp4"
        answers[str(number * 3)] = {"video_name": real, "answer": "no"}
        answers[str(number * 3 + 1)] = {"video_name": fake, "answer": "yes"}
        taxonomy[fake] = {
            "taxonomy_label_list": [["physical laws"], ["social laws"]][number == 5],
            "spatial_temporal_label": "spatial" if number == 4 else "temporal",
        }
        touch(folder, f"real_world_videos/{real}", f"impossible_videos/{fake}")
    write_json(folder / "judgement_answer.json", answers)
    write_json(folder / "video2taxonomy_label.json", taxonomy)


def travl(folder):
    touch(folder, *(f"{side}/{n}.mp4" for n in range(6) for side in ("real", "implausible")))


def pai_bench(folder):
    rows = [{"video_id": f"robot_{n}", "prompt_en": f"An arm {n}."} for n in range(4)]
    write_json(folder / "cosmos_predict2_bench_full_info.json", rows)
    touch(folder, *(f"real/robot_{n}.mp4" for n in range(4)))
    touch(folder, *(f"gen/wan/robot_{n}__{seed}.mp4" for n in range(4) for seed in range(5)))


def phydetex(folder):
    touch(folder, *(f"PID_test/{s}/video_{s}{n}.mp4" for n in range(6) for s in ("pos", "neg")))
    rows = [{"video_name": f"video_neg{n}.mp4", "anno": "A cup hovers."} for n in range(6)]
    write_json(folder / "PID_test" / "anno_file.json", rows)


def kinetics(folder):
    rows = []
    for number in range(8):
        rows.append({"label": "juggling", "youtube_id": f"-a_{number}bc", "time_start": number})
        rows[-1] |= {"time_end": number + 10, "split": "train"}
        touch(folder, f"juggling/-a_{number}bc_{number:06d}_{number + 10:06d}.mp4")
    write_csv(folder / "train.csv", rows)


def rapidata(folder):
    rows = []
    for number in range(8):
        share = (0.7, 0.5, 0.2)[number % 3]
        rows.append({"prompt": f"A cup {number}.", "model1": "seedance", "model2": "hailuo"})
        rows[-1] |= {"file_name1": f"s_{number}.mp4", "file_name2": f"h_{number}.mp4"}
        rows[-1] |= {"prompt_asset": {"bytes": b"png", "path": "a.png"}}
        rows[-1] |= {"weighted_results1_Coherence": share, "weighted_results2_Coherence": 1 - share}
        touch(folder, f"videos/seedance/s_{number}.mp4", f"videos/hailuo/h_{number}.mp4")
    write_parquet(folder / "data" / "train-00000-of-00001.parquet", rows)


def videogen_rewardbench(folder):
    rows = []
    for number in range(8):
        answer = ("A", "B", "same")[number % 3]
        rows.append({"path_A": f"videos/{number}_A.mp4", "path_B": f"./videos/{number}_B.mp4"})
        rows[-1] |= {"A_model": "kling", "B_model": "luma", "prompt": f"A cup, {number}."}
        rows[-1] |= {"VQ": "A", "MQ": "B", "TA": "same", "Overall": answer}
        touch(folder, f"videos/{number}_A.mp4", f"videos/{number}_B.mp4")
    write_csv(folder / "videogen-rewardbench.csv", rows)


def monetbench(folder):
    rows = []
    for number in range(8):
        answer = ("video1", "video2", "tie")[number % 3]
        rows.append({"internal_id": str(number), "prompt": f"A cup {number}."})
        rows[-1] |= {"standard_answer": answer, "video1_path": f"videos/{number}_1.mp4"}
        rows[-1] |= {"video2_path": f"videos/{number}_2.mp4"}
        touch(folder, f"videos/{number}_1.mp4", f"videos/{number}_2.mp4")
    write_parquet(folder / "test" / "0.parquet", rows)


def implausibench(folder):
    rows = []
    for number in range(6):
        paths = {s: f"ImplausiBench/{s}/IMP{number}_{s}.mp4" for s in ("real", "implausible")}
        rows.append({f"{side}_video": path for side, path in paths.items()})
        rows[-1] |= {"question": "?", "options": {"A": "Real, it falls.", "F": "It hovers."}}
        rows[-1] |= {"real_answer": "A", "implausible_answer": "F"}
        touch(folder, *paths.values())
    write_json(folder / "ImplausiBench" / "data.json", rows)


def intphys2(folder):
    rows = []
    for number in range(8):
        kind = ("1_Possible", "1_Impossible", "2_Possible", "2_Impossible")[number % 4]
        rows.append({"SceneIndex": number // 4, "name": f"n{number}", "file_name": f"{number}.mp4"})
        rows[-1] |= {"condition": "permanence", "type": kind, "Difficulty": "Easy", "Camera": "x"}
        touch(folder, f"Main/{number}.mp4")
    write_csv(folder / "Main" / "metadata.csv", rows)


def likephys(folder):
    for group in range(3):
        home = f"data/ball_drop_videos/subgroup_{group:03d}"
        touch(folder, f"{home}/valid_00.mp4", f"{home}/valid_01.mp4")
        touch(folder, f"{home}/over_bounce_00.mp4", f"{home}/antigravity_00.mp4")


def physics_iq(folder):
    rows = []
    for take in (1, 2):
        for scene in range(6):
            name = f"{scene + 6 * take:04d}_perspective-left_take-{take}_trimmed-fall-{scene}.mp4"
            rows.append({"scenario": name, "description": "A duck.", "category": "Optics"})
            rows[-1]["generated_video_name"] = name.replace(f"_take-{take}", "")
            touch(folder, f"full-videos/{name}")
    write_csv(folder / "descriptions.csv", rows)


def aigve(folder):
    rows = []
    for number in range(10):
        rows.append({"id": number, "prompt_gt": f"Sand {number}.", "physics": number % 6})
        rows[-1] |= {"technical_quality": 4, "overall": 2, "model": "cogvideox"}
        rows[-1] |= {"category": "global", "video_path_pd": f"cogvideox_{number}.mp4"}
        touch(folder, f"videos/cogvideox_{number}.mp4")
    write_json(folder / "train.json", {"metainfo": {"length": 10}, "data_list": rows})


def physion(folder):
    rows = []
    for number in range(8):
        rows.append({"stimulus_name": f"b'dominoes/{number:04d}'", "controller_name": "Dominoes"})
        rows[-1] |= {"is_trial_valid": True, "does_target_contact_zone": number % 2 == 0}
        touch(folder, f"{number:04d}_img.mp4")
    write_json(folder / "metadata.json", rows)


def manifest(folder):
    rows = []
    for number in range(9):
        rows.append({"path": f"clips/{number}.mp4", "violation": number % 3 / 2, "kind": "real"})
        rows[-1] |= {"group": f"g{number // 3}", "label": {"mine": number % 3}}
        touch(folder, f"clips/{number}.mp4")
    (folder / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


BADNESS = {
    "videophy": lambda label: -label["pc"],
    "videophy2": lambda label: -label["pc"],
    "videofeedback2": lambda label: -label["phy"],
    "broken_videos": lambda label: label["composite"],
    "impossible_videos": lambda label: label["answer"] == "yes",
    "travl": lambda label: label["side"] == "implausible",
    "phydetex": lambda label: label["side"] == "neg",
    "kinetics": lambda label: 0,
    "implausibench": lambda label: label["side"] == "implausible",
    "intphys2": lambda label: "Impossible" in label["type"],
    "likephys": lambda label: label["variation"] != "valid",
    "physics_iq": lambda label: 0,
    "aigve": lambda label: -label["physics"],
    "physion": lambda label: 0,
    "manifest": lambda label: label["mine"],
}
"""How bad the set's own label says a clip is, in the words of the set's description; sets that
state pairs alone have none."""
UNRATED = ("pai_bench", "rapidata", "videogen_rewardbench", "monetbench")


def make(name, folder):
    folder.mkdir(parents=True, exist_ok=True)
    globals()[name](folder)
    return folder
