//! The console corpus: every expression evaluated by each program. Values must print the same bytes;
//! where one fails, the other must fail too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

use super::answers::{self, Answers};
use super::corpus::{self, Topic};
use super::program::{Program, Run};
use super::{Case, Outcome, Programs, pool, scratch};

/// So many expressions go to one process, as long as none fails.
const BATCH: usize = 50;

/// After so many expressions a sign of life is printed.
const PROGRESS: usize = 1000;

/// The first character of a kept answer: whether a value or a message follows.
const VALUE: char = '=';
const FAILURE: char = '!';

/// Compares all expressions whose id contains the filter.
pub(super) fn compare(programs: &Programs, kept: &mut Answers, filter: &str) -> Result<Vec<Case>> {
    let topics = selected(filter)?;
    let mut tofu = evaluate(&programs.tofu, &topics, kept)?.into_iter();
    let mut groma = evaluate(&programs.groma, &topics, kept)?.into_iter();
    let mut terraform = match &programs.terraform {
        Some(program) => Some(evaluate(program, &topics, kept)?.into_iter()),
        None => None,
    };
    let mut cases = Vec::new();
    for (topic, expression) in topics.iter().flat_map(|topic| topic.expressions.iter().map(move |e| (topic, e))) {
        let next = |answers: &mut std::vec::IntoIter<String>| answers.next().map(|answer| outcome(&answer));
        let (Some(groma), Some(tofu)) = (next(&mut groma), next(&mut tofu)) else { break };
        let terraform = terraform.as_mut().and_then(next);
        cases.push(Case { id: id(topic, expression), groma, tofu, terraform });
    }
    Ok(cases)
}

fn id(topic: &Topic, expression: &str) -> String {
    format!("console/{}: {}", topic.name, expression.replace('\n', "\\n"))
}

/// The topics with only those expressions that the filter lets through.
fn selected(filter: &str) -> Result<Vec<Topic>> {
    let mut topics = corpus::topics()?;
    for topic in &mut topics {
        let ids: Vec<String> = topic.expressions.iter().map(|expression| id(topic, expression)).collect();
        let mut ids = ids.iter();
        topic.expressions.retain(|_| ids.next().is_some_and(|id| id.contains(filter)));
    }
    topics.retain(|topic| !topic.expressions.is_empty());
    Ok(topics)
}

fn outcome(answer: &str) -> Outcome {
    if let Some(value) = answer.strip_prefix(VALUE) {
        return Outcome { verdict: value.to_owned(), detail: String::new() };
    }
    let failure = answer.trim_start_matches(FAILURE);
    let (verdict, detail) = failure.split_once('\n').unwrap_or((failure, ""));
    Outcome { verdict: verdict.to_owned(), detail: detail.to_owned() }
}

/// A stretch of one topic's expressions whose answers are not known yet.
struct Work<'a> {
    /// A copy of the fixture for each thread.
    dirs: Vec<PathBuf>,
    arguments: Vec<String>,
    expressions: Vec<&'a str>,
    keys: Vec<String>,
}

/// A copy of a fixture for each thread: the peers lock the state of a directory even to read it.
fn copies(program: &Program, source: &Path, name: &str) -> Result<Vec<PathBuf>> {
    (0..pool::THREADS)
        .map(|thread| {
            let dir = scratch::copy(source, program.name, "console", &format!("{name}-{thread}"))?;
            program.prepare(&dir)?;
            Ok(dir)
        })
        .collect()
}

/// The program's answers to all expressions, in order; asks only for those that were not kept.
fn evaluate(program: &Program, topics: &[Topic], kept: &mut Answers) -> Result<Vec<String>> {
    let mut fresh = BTreeMap::new();
    let mut all_keys = Vec::new();
    let mut work = Vec::new();
    let mut fixtures = BTreeMap::new();
    for topic in topics {
        let source = corpus::directory("fixtures").join(&topic.fixture);
        let tree = answers::hash_tree(&source)?;
        let keys: Vec<String> =
            topic.expressions.iter().map(|expression| key(program, topic, &tree, expression)).collect();
        let unknown = |key: &str| !program.keep_answers || kept.get(key).is_none();
        let missing: Vec<(&String, &String)> =
            topic.expressions.iter().zip(&keys).filter(|(_, key)| unknown(key)).collect();
        if !missing.is_empty() {
            if !fixtures.contains_key(&topic.fixture) {
                fixtures.insert(topic.fixture.clone(), copies(program, &source, &topic.fixture)?);
            }
            let arguments: Vec<String> = std::iter::once("console".to_owned())
                .chain(topic.variables.iter().map(|variable| format!("-var={variable}")))
                .collect();
            work.extend(missing.chunks(BATCH).map(|chunk| Work {
                dirs: fixtures[&topic.fixture].clone(),
                arguments: arguments.clone(),
                expressions: chunk.iter().map(|(expression, _)| expression.as_str()).collect(),
                keys: chunk.iter().map(|(_, key)| (*key).clone()).collect(),
            }));
        }
        all_keys.extend(keys);
    }
    let asked: usize = work.iter().map(|work| work.expressions.len()).sum();
    println!("    {}: {asked} of {} expressions to evaluate", program.name, all_keys.len());
    let done = AtomicUsize::new(0);
    let results = pool::map(&work, |thread, work| {
        let answers = answer_all(&Console { program, work, dir: &work.dirs[thread] })?;
        let before = done.fetch_add(answers.len(), Ordering::Relaxed);
        let after = before + answers.len();
        if before / PROGRESS != after / PROGRESS {
            println!("    {}: {after} of {asked}", program.name);
        }
        Ok(answers)
    })?;
    for (work, answers) in work.iter().zip(results) {
        for (key, answer) in work.keys.iter().zip(answers) {
            if program.keep_answers {
                kept.put(key.clone(), answer.clone());
            }
            fresh.insert(key.clone(), answer);
        }
    }
    kept.save()?;
    let find = |key: &String| fresh.get(key).cloned().or_else(|| kept.get(key).map(str::to_owned)).unwrap_or_default();
    Ok(all_keys.iter().map(find).collect())
}

fn key(program: &Program, topic: &Topic, tree: &str, expression: &str) -> String {
    let variables = topic.variables.join("\n");
    answers::key(program, &[b"console", tree.as_bytes(), variables.as_bytes(), expression.as_bytes()])
}

/// Where and how to ask.
struct Console<'a> {
    program: &'a Program,
    work: &'a Work<'a>,
    dir: &'a Path,
}

impl Console<'_> {
    fn run(&self, input: &str) -> Result<Run> {
        let arguments: Vec<&str> = self.work.arguments.iter().map(String::as_str).collect();
        self.program.run(self.dir, &arguments, input.as_bytes())
    }
}

/// Answers to a stretch of expressions: many in one process, and alone those that end it.
fn answer_all(console: &Console<'_>) -> Result<Vec<String>> {
    let mut answers = Vec::new();
    while answers.len() < console.work.expressions.len() {
        let before = answers.len();
        let rest = &console.work.expressions[before..];
        if console.program.batches {
            answers.extend(batch(console, rest)?);
        }
        if answers.len() == before
            && let Some(expression) = console.work.expressions.get(before)
        {
            answers.push(alone(console, expression)?);
        }
    }
    Ok(answers)
}

/// A string expression that prints as itself and stands in no corpus.
fn marker(index: usize) -> String {
    format!("\"--- groma conformance marker {index} ---\"")
}

/// Answers to as many of the expressions as the program takes before it stops.
fn batch(console: &Console<'_>, expressions: &[&str]) -> Result<Vec<String>> {
    let mut input = format!("{}\n", marker(0));
    for (index, expression) in expressions.iter().enumerate() {
        input.push_str(expression);
        input.push('\n');
        input.push_str(&marker(index + 1));
        input.push('\n');
    }
    let run = console.run(&input)?;
    let mut answers = split(&run.text(), expressions.len());
    // The expression that ended the run, if it cannot have swallowed what stands behind it.
    if let Some(culprit) = expressions.get(answers.len())
        && run.code == Some(1)
        && is_closed(culprit)
    {
        answers.push(failure(&run));
    }
    Ok(answers)
}

/// Whether no bracket and no backslash asks for another line. Rough, and errs towards no.
fn is_closed(expression: &str) -> bool {
    let count = |bracket: char| expression.matches(bracket).count();
    count('(') == count(')') && count('[') == count(']') && count('{') == count('}') && !expression.ends_with('\\')
}

fn failure(run: &Run) -> String {
    format!("{FAILURE}{}\n{}", run.failure(), summaries(&run.stderr))
}

/// Cuts the output at the markers. What stands before the first one are warnings about the fixture.
fn split(text: &str, expressions: usize) -> Vec<String> {
    let mut values = Vec::new();
    let Some((_, mut rest)) = text.split_once(&format!("{}\n", marker(0))) else { return values };
    for index in 1..=expressions {
        let Some((value, after)) = rest.split_once(&format!("{}\n", marker(index))) else { break };
        values.push(format!("{VALUE}{value}"));
        rest = after;
    }
    values
}

fn alone(console: &Console<'_>, expression: &str) -> Result<String> {
    let input =
        if console.program.batches { format!("{}\n{expression}\n", marker(0)) } else { format!("{expression}\n") };
    let run = console.run(&input)?;
    if !run.succeeded() {
        return Ok(failure(&run));
    }
    let text = run.text();
    let value = text.split_once(&format!("{}\n", marker(0))).map_or(text.as_str(), |(_, value)| value);
    Ok(format!("{VALUE}{value}"))
}

/// The `Error: …` lines of diagnostics as people see them, without box and colour.
fn summaries(stderr: &str) -> String {
    let mut lines = Vec::new();
    for line in stderr.lines() {
        let plain = without_colour(line);
        if let Some((before, summary)) = plain.split_once("Error: ")
            && before.chars().all(|c| c == '│' || c == '|' || c.is_whitespace())
        {
            lines.push(summary.trim().to_owned());
        }
    }
    lines.sort();
    lines.join("\n")
}

fn without_colour(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_at_the_markers() {
        let text = format!("warning\n{}\n2\n{}\n[\n]\n{}\n", marker(0), marker(1), marker(2));
        assert_eq!(split(&text, 3), ["=2\n", "=[\n]\n"]);
        assert!(split("nothing", 3).is_empty());
    }

    #[test]
    fn summaries_lose_box_and_colour() {
        let stderr = "\u{1b}[31m╷\u{1b}[0m\n\u{1b}[31m│\u{1b}[0m \u{1b}[1m\u{1b}[31mError: \u{1b}[0mBad\u{1b}[0m\n│ not an Error: here\n";
        assert_eq!(summaries(stderr), "Bad");
    }
}
