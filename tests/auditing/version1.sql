BEGIN TRANSACTION;
CREATE TABLE audits (
	audit TEXT NOT NULL, 
	sources TEXT NOT NULL, 
	PRIMARY KEY (audit)
);
INSERT INTO "audits" VALUES('d371ac0dc794611c','["runs"]');
INSERT INTO "audits" VALUES('c8c317de489c9971','["other"]');
CREATE TABLE findings (
	source TEXT NOT NULL, 
	run_key TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	rule TEXT NOT NULL, 
	severity TEXT NOT NULL, 
	title TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	onset DOUBLE, 
	onset_time DOUBLE, 
	leads BOOLEAN NOT NULL, 
	fingerprint TEXT NOT NULL, 
	PRIMARY KEY (source, run_key, number)
);
INSERT INTO "findings" VALUES('other','other/c',0,'nan-loss','critical','NaN loss from step 9: the last finite loss was 1.375 at step 8, gradient norm 3 at step 8.','train_loss',9.0,NULL,1,'d83820160653e679');
INSERT INTO "findings" VALUES('other','other/c',1,'clip-saturation','info','Clipping is engaged mostly from step 1: gradient norm above max_grad_norm 1 on 6 of 8 points, its median is 2.','grad_norm',1.0,NULL,1,'');
INSERT INTO "findings" VALUES('other','other/c',2,'missing-signal','info','3 vital metrics are not logged: eval_loss, throughput_tokens, gpu_mem.','eval_loss',NULL,NULL,1,'');
INSERT INTO "findings" VALUES('runs','runs/a',0,'clip-saturation','info','Clipping is engaged mostly from step 2: gradient norm above max_grad_norm 1 on 13 of 19 points, its median is 2.','grad_norm',2.0,NULL,1,'');
INSERT INTO "findings" VALUES('runs','runs/a',1,'missing-signal','info','3 vital metrics are not logged: eval_loss, throughput_tokens, gpu_mem.','eval_loss',NULL,NULL,1,'');
INSERT INTO "findings" VALUES('runs','runs/b',0,'nan-loss','critical','NaN loss from step 12: the last finite loss was 1.273 at step 11, gradient norm 3 at step 11.','train_loss',12.0,NULL,1,'ea8525cfa1e92a63');
INSERT INTO "findings" VALUES('runs','runs/b',1,'clip-saturation','info','Clipping is engaged mostly from step 1: gradient norm above max_grad_norm 1 on 8 of 11 points, its median is 2.','grad_norm',1.0,NULL,1,'');
INSERT INTO "findings" VALUES('runs','runs/b',2,'missing-signal','info','3 vital metrics are not logged: eval_loss, throughput_tokens, gpu_mem.','eval_loss',NULL,NULL,1,'');
CREATE TABLE issue_nights (
	audit TEXT NOT NULL, 
	night INTEGER NOT NULL, 
	fingerprint TEXT NOT NULL, 
	state TEXT NOT NULL, 
	severity TEXT NOT NULL, 
	runs INTEGER NOT NULL, 
	gpu_hours DOUBLE NOT NULL, 
	PRIMARY KEY (audit, night, fingerprint)
);
INSERT INTO "issue_nights" VALUES('d371ac0dc794611c',1,'ea8525cfa1e92a63','new','critical',1,0.0);
INSERT INTO "issue_nights" VALUES('d371ac0dc794611c',2,'ea8525cfa1e92a63','ongoing','critical',1,0.0);
INSERT INTO "issue_nights" VALUES('c8c317de489c9971',1,'d83820160653e679','new','critical',1,0.0);
INSERT INTO "issue_nights" VALUES('d371ac0dc794611c',3,'ea8525cfa1e92a63','resolved','critical',1,0.0);
CREATE TABLE issue_runs (
	audit TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	run_key TEXT NOT NULL, 
	PRIMARY KEY (audit, fingerprint, position)
);
INSERT INTO "issue_runs" VALUES('c8c317de489c9971','d83820160653e679',0,'other/c');
INSERT INTO "issue_runs" VALUES('d371ac0dc794611c','ea8525cfa1e92a63',0,'runs/b');
CREATE TABLE issues (
	audit TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	rule TEXT NOT NULL, 
	severity TEXT NOT NULL, 
	run_group TEXT NOT NULL, 
	title TEXT NOT NULL, 
	state TEXT NOT NULL, 
	first_night INTEGER NOT NULL, 
	last_night INTEGER NOT NULL, 
	gpu_hours DOUBLE NOT NULL, 
	money DOUBLE, 
	document TEXT NOT NULL, 
	PRIMARY KEY (audit, fingerprint)
);
INSERT INTO "issues" VALUES('c8c317de489c9971','d83820160653e679',0,'nan-loss','critical','sft','NaN loss: 1 run of sft.','new',1,1,0.0,NULL,'{"fingerprint": "d83820160653e679", "rule": "nan-loss", "severity": "critical", "group": "sft", "title": "NaN loss: 1 run of sft.", "state": "new", "runs": ["other/c"], "worst": "c: NaN loss from step 9: the last finite loss was 1.375 at step 8, gradient norm 3 at step 8.", "first_night": 1, "last_night": 1, "gpu_hours": 0, "untimed": 1, "money": null, "why": ""}');
INSERT INTO "issues" VALUES('d371ac0dc794611c','ea8525cfa1e92a63',0,'nan-loss','critical','sft','NaN loss: 1 run of sft.','resolved',1,1,0.0,NULL,'{"fingerprint": "ea8525cfa1e92a63", "rule": "nan-loss", "severity": "critical", "group": "sft", "title": "NaN loss: 1 run of sft.", "state": "resolved", "runs": ["runs/b"], "worst": "b: NaN loss from step 12: the last finite loss was 1.273 at step 11, gradient norm 3 at step 11.", "first_night": 1, "last_night": 1, "gpu_hours": 0, "untimed": 1, "money": null, "why": ""}');
CREATE TABLE nights (
	audit TEXT NOT NULL, 
	night INTEGER NOT NULL, 
	date TEXT NOT NULL, 
	open BOOLEAN NOT NULL, 
	read INTEGER NOT NULL, 
	unchanged INTEGER NOT NULL, 
	seconds DOUBLE NOT NULL, 
	PRIMARY KEY (audit, night)
);
INSERT INTO "nights" VALUES('d371ac0dc794611c',1,'2026-11-21T02:00:00Z',0,2,0,1.8);
INSERT INTO "nights" VALUES('d371ac0dc794611c',2,'2026-11-22T02:00:00Z',0,0,2,0.0);
INSERT INTO "nights" VALUES('c8c317de489c9971',1,'2026-11-21T02:00:00Z',0,1,0,0.2);
INSERT INTO "nights" VALUES('d371ac0dc794611c',3,'2026-11-23T02:00:00Z',0,0,0,0.1);
INSERT INTO "nights" VALUES('d371ac0dc794611c',4,'2026-11-24T02:00:00Z',0,2,0,0.4);
CREATE TABLE runlens_schema (
	version INTEGER NOT NULL, 
	runlens TEXT NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "runlens_schema" VALUES(1,'0.1.0');
CREATE TABLE runs (
	source TEXT NOT NULL, 
	run_key TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	place TEXT NOT NULL, 
	name TEXT NOT NULL, 
	run_group TEXT NOT NULL, 
	job TEXT NOT NULL, 
	sweep TEXT NOT NULL, 
	task TEXT NOT NULL, 
	framework TEXT NOT NULL, 
	state TEXT NOT NULL, 
	health TEXT NOT NULL, 
	verdict TEXT NOT NULL, 
	steps BIGINT NOT NULL, 
	planned_steps BIGINT, 
	started DOUBLE, 
	ended DOUBLE, 
	gpus INTEGER NOT NULL, 
	document TEXT NOT NULL, 
	PRIMARY KEY (source, run_key)
);
INSERT INTO "runs" VALUES('other','other/c','other/c','other/c','c','','','','sft','transformers','finished','critical','NaN loss from step 9: the last finite loss was 1.375 at step 8, gradient norm 3 at step 8.',20,20,NULL,NULL,1,'{"key": "other/c", "place": "other/c", "name": "c", "project": "other", "group": "", "job": "", "sweep": "", "task": "sft", "framework": "transformers", "state": "finished", "health": "critical", "verdict": "NaN loss from step 9: the last finite loss was 1.375 at step 8, gradient norm 3 at step 8.", "steps": 20, "planned_steps": 20, "started": null, "ended": null, "paused": 0.0, "gpus": 1, "config": {}, "measures": {"train_loss.end": 1.4285714285714286, "train_loss.best": 1.3928571428571423, "eval.points": 0.0}, "noises": {"train_loss.end": 0.07295652105770763}, "findings": [{"rule": "nan-loss", "severity": "critical", "title": "NaN loss from step 9: the last finite loss was 1.375 at step 8, gradient norm 3 at step 8.", "metric": "train_loss", "onset": 9.0, "onset_time": null, "leads": true, "incident": "critical"}, {"rule": "clip-saturation", "severity": "info", "title": "Clipping is engaged mostly from step 1: gradient norm above max_grad_norm 1 on 6 of 8 points, its median is 2.", "metric": "grad_norm", "onset": 1.0, "onset_time": null, "leads": true, "incident": "info"}, {"rule": "missing-signal", "severity": "info", "title": "3 vital metrics are not logged: eval_loss, throughput_tokens, gpu_mem.", "metric": "eval_loss", "onset": null, "onset_time": null, "leads": true, "incident": "info"}], "spark": {"metric": "train_loss", "points": [20, 9, 5, 3, 2, 1, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1], "onset": 8, "done": 1.0}, "problems": 0}');
INSERT INTO "runs" VALUES('runs','runs/a','runs/a','runs/a','a','','','','sft','transformers','finished','info','No fault found up to step 20: train loss fell from 2.500 to 1.158.',20,20,NULL,NULL,1,'{"key": "runs/a", "place": "runs/a", "name": "a", "project": "runs", "group": "", "job": "", "sweep": "", "task": "sft", "framework": "transformers", "state": "finished", "health": "info", "verdict": "No fault found up to step 20: train loss fell from 2.500 to 1.158.", "steps": 20, "planned_steps": 20, "started": null, "ended": null, "paused": 0.0, "gpus": 1, "config": {}, "measures": {"train_loss.end": 1.1578947368421053, "train_loss.best": 1.1526315789473667, "eval.points": 0.0}, "noises": {"train_loss.end": 0.013216656353228436}, "findings": [{"rule": "clip-saturation", "severity": "info", "title": "Clipping is engaged mostly from step 2: gradient norm above max_grad_norm 1 on 13 of 19 points, its median is 2.", "metric": "grad_norm", "onset": 2.0, "onset_time": null, "leads": true, "incident": "info"}, {"rule": "missing-signal", "severity": "info", "title": "3 vital metrics are not logged: eval_loss, throughput_tokens, gpu_mem.", "metric": "eval_loss", "onset": null, "onset_time": null, "leads": true, "incident": "info"}], "spark": {"metric": "train_loss", "points": [20, 9, 6, 4, 3, 2, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], "onset": null, "done": 1.0}, "problems": 0}');
INSERT INTO "runs" VALUES('runs','runs/b','runs/b','runs/b','b','','','','sft','transformers','finished','critical','NaN loss from step 12: the last finite loss was 1.273 at step 11, gradient norm 3 at step 11.',20,20,NULL,NULL,1,'{"key": "runs/b", "place": "runs/b", "name": "b", "project": "runs", "group": "", "job": "", "sweep": "", "task": "sft", "framework": "transformers", "state": "finished", "health": "critical", "verdict": "NaN loss from step 12: the last finite loss was 1.273 at step 11, gradient norm 3 at step 11.", "steps": 20, "planned_steps": 20, "started": null, "ended": null, "paused": 0.0, "gpus": 1, "config": {}, "measures": {"train_loss.end": 1.3, "train_loss.best": 1.2818181818181824, "eval.points": 0.0}, "noises": {"train_loss.end": 0.04192338808254365}, "findings": [{"rule": "nan-loss", "severity": "critical", "title": "NaN loss from step 12: the last finite loss was 1.273 at step 11, gradient norm 3 at step 11.", "metric": "train_loss", "onset": 12.0, "onset_time": null, "leads": true, "incident": "critical"}, {"rule": "clip-saturation", "severity": "info", "title": "Clipping is engaged mostly from step 1: gradient norm above max_grad_norm 1 on 8 of 11 points, its median is 2.", "metric": "grad_norm", "onset": 1.0, "onset_time": null, "leads": true, "incident": "info"}, {"rule": "missing-signal", "severity": "info", "title": "3 vital metrics are not logged: eval_loss, throughput_tokens, gpu_mem.", "metric": "eval_loss", "onset": null, "onset_time": null, "leads": true, "incident": "info"}], "spark": {"metric": "train_loss", "points": [20, 9, 5, 4, 2, 2, 1, 1, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1], "onset": 11, "done": 1.0}, "problems": 0}');
CREATE TABLE units (
	source TEXT NOT NULL, 
	place TEXT NOT NULL, 
	stamp TEXT NOT NULL, 
	judged_with TEXT NOT NULL, 
	tries INTEGER NOT NULL, 
	error TEXT NOT NULL, 
	what_to_do TEXT NOT NULL, 
	set_aside BOOLEAN NOT NULL, 
	audit TEXT NOT NULL, 
	night INTEGER NOT NULL, 
	fresh BOOLEAN NOT NULL, 
	PRIMARY KEY (source, place)
);
INSERT INTO "units" VALUES('other','other/c','0f296ba8e118d9bb3e280f8deaf1efea','e760421bc23747e8',0,'','',0,'c8c317de489c9971',1,1);
INSERT INTO "units" VALUES('runs','runs/a','e29fe35400b950a89e563f673bc747ba','e760421bc23747e8',0,'','',0,'d371ac0dc794611c',4,1);
INSERT INTO "units" VALUES('runs','runs/b','e8e5991d9dd1054ac9f479ce61da361f','e760421bc23747e8',0,'','',0,'d371ac0dc794611c',4,1);
CREATE INDEX runs_of_unit ON runs (unit, source);
CREATE INDEX findings_of_rule ON findings (rule);
CREATE INDEX issues_of_run ON issue_runs (audit, run_key);
CREATE VIEW unread AS SELECT source, place, error AS why, what_to_do, tries, set_aside FROM units WHERE error <> '';
COMMIT;
