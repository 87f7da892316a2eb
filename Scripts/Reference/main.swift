// Writes the reference of the command line as Markdown to standard output.
//
// Usage: reference DUMP
//        reference EDITS PAGE
//
// DUMP is a file with the output of `millstream --experimental-dump-help`. With two arguments, the result is PAGE with the table
// of the edits in EDITS, a file with the output of `millstream edits --json`.

import Foundation

/// The help of a program, as swift-argument-parser writes it.
struct Dump: Decodable {
    let command: Command
}

struct Command: Decodable {
    let commandName: String
    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?
    let subcommands: [Command]?
    let defaultSubcommand: String?
}

struct Argument: Decodable, Hashable {
    struct Name: Decodable, Hashable {
        let kind: String
        let name: String

        var spelling: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let names: [Name]?
    let valueName: String?
    let abstract: String?
    let sectionTitle: String?
    let defaultValue: String?
    let allValues: [String]?
    let isOptional: Bool
    let isRepeating: Bool
    let shouldDisplay: Bool

    /// A Boolean value that indicates whether the argument is one of every command.
    var isGeneral: Bool { names?.contains { ["help", "version"].contains($0.name) } ?? false }

    /// The argument as it is written on the command line.
    var spelling: String {
        guard let names else { return "<\(valueName ?? "value")>" }
        let value = kind == "option" ? " <\(valueName ?? "value")>" : ""
        return names.map(\.spelling).joined(separator: ", ") + value
    }

    var meaning: String {
        var text = abstract ?? ""
        if let allValues, !allValues.isEmpty { text += " Values: \(allValues.joined(separator: ", "))." }
        if let defaultValue { text += " Default: `\(defaultValue)`." }
        return text.replacing("|", with: "\\|").replacing("\n", with: " ")
    }
}

/// A titled list of arguments.
struct Section: Hashable {
    let title: String
    let arguments: [Argument]

    var table: [String] {
        ["| Argument | Meaning |", "|---|---|"]
            + arguments.map { "| `\($0.spelling.replacing("|", with: "\\|"))` | \($0.meaning) |" }
    }
}

extension Command {
    /// The arguments by their sections, in order; those of every command are left out.
    var sections: [Section] {
        var titles: [String] = []
        var lists: [String: [Argument]] = [:]
        for argument in arguments ?? [] where argument.shouldDisplay && !argument.isGeneral {
            let title = argument.sectionTitle ?? ""
            if lists[title] == nil { titles.append(title) }
            lists[title, default: []].append(argument)
        }
        return titles.map { Section(title: $0, arguments: lists[$0] ?? []) }
    }

    /// The commands that do something, with their full names.
    func leaves(after prefix: String) -> [(name: String, command: Command)] {
        let name = prefix.isEmpty ? commandName : "\(prefix) \(commandName)"
        guard let subcommands, !subcommands.isEmpty else { return [(name, self)] }
        return subcommands.filter { $0.commandName != "help" }.flatMap { $0.leaves(after: name) }
    }

    func usage(_ name: String) -> String {
        let all = (arguments ?? []).filter { $0.shouldDisplay && !$0.isGeneral }
        let positional = all.filter { $0.kind == "positional" }.map { argument in
            let value = argument.spelling + (argument.isRepeating ? "…" : "")
            return argument.isOptional ? "[\(value)]" : value
        }
        let required = all.filter { $0.kind == "option" && !$0.isOptional && $0.defaultValue == nil }.map(\.spelling)
        let hasOptions = all.contains { $0.kind != "positional" }
        return ([name] + required + (hasOptions ? ["[OPTIONS]"] : []) + positional).joined(separator: " ")
    }
}

/// Returns the paragraphs of a discussion, in which examples and tables of keys become code.
func markdown(_ discussion: String) -> [String] {
    var lines: [String] = []
    for paragraph in discussion.replacing("\r", with: "").split(separator: "\n\n") {
        let parts = paragraph.split(separator: "\n").map(String.init)
        if parts.allSatisfy({ $0.hasPrefix("Example: ") }) {
            lines += ["", "```"] + parts.map { String($0.dropFirst("Example: ".count)) } + ["```"]
        } else if parts.allSatisfy({ $0.hasPrefix(" ") || $0.contains(": ") }), parts.count > 3 {
            lines += ["", "```"] + parts.map { $0.trimmingCharacters(in: .whitespaces) } + ["```"]
        } else {
            lines += ["", parts.joined(separator: " ")]
        }
    }
    return lines
}

if CommandLine.arguments.count > 2 {
    let edits = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
    let page = try String(contentsOf: URL(fileURLWithPath: CommandLine.arguments[2]), encoding: .utf8)
    print(try JSONDecoder().decode(EditList.self, from: edits).page(page), terminator: "")
    exit(0)
}

let path = CommandLine.arguments.dropFirst().first ?? "/dev/stdin"
let root = try JSONDecoder().decode(Dump.self, from: Data(contentsOf: URL(fileURLWithPath: path))).command
let leaves = root.leaves(after: "")

// A section that several commands have is described once.
var uses: [Section: Int] = [:]
for (_, command) in leaves {
    for section in command.sections where !section.title.isEmpty { uses[section, default: 0] += 1 }
}
let common = leaves.flatMap(\.command.sections).reduce(into: [Section]()) { result, section in
    if uses[section] ?? 0 > 1, !result.contains(section) { result.append(section) }
}

var lines = [
    "# Commands", "",
    "Generated by `Scripts/reference` from `millstream --help`. Every command also has `--help` and `--version`.", "",
]
lines += ["| Command | Purpose |", "|---|---|"]
lines += leaves.map { name, command in
    "| [`\(name)`](#\(name.replacing(" ", with: "-"))) | \(command.abstract ?? "") |"
}
if let discussion = root.discussion { lines += markdown(discussion) }
for (name, command) in leaves {
    lines += ["", "## \(name)", "", command.abstract ?? "", "", "```", command.usage(name), "```"]
    if let discussion = command.discussion { lines += markdown(discussion) }
    for section in command.sections {
        if !section.title.isEmpty { lines += ["", "### \(section.title) (\(name))"] }
        if common.contains(section) { lines.removeLast(2); continue }
        lines += [""] + section.table
    }
    let shared = command.sections.filter { common.contains($0) }.map { section in
        "[\(section.title) options](#\(section.title.lowercased())-options)"
    }
    if !shared.isEmpty { lines += ["", "Also: \(shared.joined(separator: ", "))."] }
}
for section in common { lines += ["", "## \(section.title) options", ""] + section.table }
print(lines.joined(separator: "\n"))
