//! How the JSON looks.

use serde_json::Value as Json;

/// Writes JSON with everything that holds no table in one line.
pub(super) fn write(json: &Json, indent: usize, out: &mut String) {
    match json {
        Json::Array(list) if list.iter().any(|json| !is_flat(json) || json.is_object()) => {
            lines(list.iter().map(|json| (None, json)), indent, ('[', ']'), out);
        }
        Json::Object(map) if !map.values().all(is_flat) => {
            lines(map.iter().map(|(key, json)| (Some(key), json)), indent, ('{', '}'), out);
        }
        json => line(json, out),
    }
}

/// Whether it is a single value or a list of such.
fn is_flat(json: &Json) -> bool {
    match json {
        Json::Array(list) => list.iter().all(|json| !json.is_array() && !json.is_object()),
        json => !json.is_object(),
    }
}

fn lines<'a>(
    items: impl Iterator<Item = (Option<&'a String>, &'a Json)>,
    indent: usize,
    (open, close): (char, char),
    out: &mut String,
) {
    out.push(open);
    let mut between = "\n";
    for (key, json) in items {
        out.push_str(between);
        out.push_str(&" ".repeat(indent + 2));
        if let Some(key) = key {
            out.push_str(&format!("{}: ", Json::from(key.as_str())));
        }
        write(json, indent + 2, out);
        between = ",\n";
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(close);
}

fn line(json: &Json, out: &mut String) {
    match json {
        Json::Array(list) => {
            let list: Vec<_> = list.iter().map(Json::to_string).collect();
            out.push_str(&format!("[{}]", list.join(", ")));
        }
        Json::Object(map) if !map.is_empty() => {
            let mut between = "{ ";
            for (key, json) in map {
                out.push_str(&format!("{between}{}: ", Json::from(key.as_str())));
                line(json, out);
                between = ", ";
            }
            out.push_str(" }");
        }
        json => out.push_str(&json.to_string()),
    }
}
