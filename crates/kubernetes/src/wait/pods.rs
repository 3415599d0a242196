//! Why a pod does not run: images that cannot be pulled, containers that end, nodes that do not take it.

use super::conditions::{find, number, text};
use crate::Json;
use crate::failure::shortened;

/// Waiting reasons that a container passes through when all is well.
const ON_THE_WAY: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// Why a pod does not run; none if nothing is wrong with it, or not yet.
pub(super) fn problem(pod: &Json) -> Option<String> {
    let statuses = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let mut containers = statuses.iter().filter_map(|at| pod.pointer(at)?.as_array()).flatten();
    if let Some(problem) = containers.find_map(container_problem) {
        return Some(problem);
    }
    let scheduled = find(pod, "PodScheduled").filter(|condition| condition.status == "False");
    if let Some(condition) = scheduled {
        return Some(format!("cannot be scheduled: {}", shortened(condition.message.trim(), 300)));
    }
    let (reason, message) = (text(pod, "/status/reason"), text(pod, "/status/message"));
    if reason.is_empty() { None } else { Some(joined(reason, message)) }
}

/// The same, behind a text.
pub(super) fn because(pod: &Json) -> String {
    problem(pod).map_or_else(String::new, |problem| format!(": {problem}"))
}

fn container_problem(status: &Json) -> Option<String> {
    let name = text(status, "/name");
    let waiting = text(status, "/state/waiting/reason");
    let last_exit = number(status, "/lastState/terminated/exitCode");
    if !waiting.is_empty() && !ON_THE_WAY.contains(&waiting) {
        let message = text(status, "/state/waiting/message");
        let exit = last_exit.map_or_else(String::new, |code| {
            let reason = text(status, "/lastState/terminated/reason");
            let reason = if reason.is_empty() { String::new() } else { format!(", {reason}") };
            format!(" (last exit code {code}{reason})")
        });
        return Some(format!("container {name}: {}{exit}", joined(waiting, message)));
    }
    let code = number(status, "/state/terminated/exitCode").filter(|code| *code != 0)?;
    let reason = joined(text(status, "/state/terminated/reason"), text(status, "/state/terminated/message"));
    Some(format!("container {name} has ended with exit code {code} ({reason})"))
}

fn joined(reason: &str, message: &str) -> String {
    let message = shortened(message.trim(), 200);
    if message.is_empty() { reason.to_owned() } else { format!("{reason}: {message}") }
}
