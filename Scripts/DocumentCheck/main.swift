// Checks Markdown files: links lead somewhere, examples of JSON can be parsed, and types that are named exist.
//
// Usage: document-check FILE …
//
// Run it in the folder of the package. Names are looked up in all Swift files and scripts of the package.

import Foundation

/// A Markdown file, without the lines of its code blocks.
struct Document {
    let path: String
    /// The lines outside of code blocks, with their numbers.
    private(set) var lines: [(number: Int, text: String)] = []
    /// The code blocks, with the language and the number of their first line.
    private(set) var blocks: [(number: Int, language: String, text: String)] = []

    init(path: String) throws {
        self.path = path
        var block: (number: Int, language: String, lines: [Substring])?
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                if let open = block {
                    blocks.append((open.number, open.language, open.lines.joined(separator: "\n")))
                    block = nil
                } else {
                    block = (index + 2, String(line.dropFirst(3)), [])
                }
            } else if block != nil {
                block?.lines.append(line)
            } else {
                lines.append((index + 1, String(line)))
            }
        }
    }

    /// The anchors of the headings.
    var anchors: Set<String> {
        Set(
            lines.filter { $0.text.hasPrefix("#") }.map { line in
                let title = line.text.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                return title.replacing(#/[^\w\- ]/#, with: "").replacing(" ", with: "-")
            }
        )
    }
}

/// Returns the words in the Swift files and scripts of the package, and the names of these files.
func wordsOfSources() -> Set<Substring> {
    var words: Set<Substring> = []
    for folder in ["Sources", "Tests", "Scripts", "Fuzzing", "Examples", "Benchmarks", "Mutation"] {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        for file in files where ["swift", "h", ""].contains(URL(fileURLWithPath: file).pathExtension) {
            guard let text = try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8) else { continue }
            words.formUnion(text.split { !($0.isLetter || $0.isNumber || $0 == "_") })
            words.insert(URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent[...])
        }
    }
    words.formUnion((try? String(contentsOfFile: "Package.swift", encoding: .utf8))?.split { !$0.isLetter } ?? [])
    return words
}

/// The names of types of other libraries, which the sources do not contain.
let foreignNames: Set<String> = ["AVPlayer"]

let words = wordsOfSources()
var count = 0
@MainActor func report(_ path: String, _ line: Int, _ message: String) {
    count += 1
    print("\(path):\(line): error: \(message)")
}

for path in CommandLine.arguments.dropFirst() {
    let document = try Document(path: path)
    let folder = (path as NSString).deletingLastPathComponent
    for (number, text) in document.lines {
        for match in text.matches(of: #/\]\(([^)\s]+)\)/#) {
            let link = String(match.1)
            if link.contains("://") { continue }
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? path : (folder as NSString).appendingPathComponent(parts[0])
            if !FileManager.default.fileExists(atPath: target) {
                report(path, number, "the link \(link) leads nowhere")
            } else if parts.count > 1, try !Document(path: target).anchors.contains(parts[1]) {
                report(path, number, "\(target) has no heading for the link \(link)")
            }
        }
        // Names of types, alone or with a member: `Player`, `PlayerItem.pinVariant`, `Player(url:)`.
        for match in text.matches(of: #/`([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(\.\w+)?(\([\w:]*\))?`/#) {
            let name = String(match.1)
            if words.contains(name[...]) || foreignNames.contains(name) { continue }
            if FileManager.default.fileExists(atPath: name) { continue }
            report(path, number, "there is no \(name) in the sources")
        }
    }
    for block in document.blocks {
        let texts =
            switch block.language {
            case "json": [block.text]
            case "jsonl": block.text.split(separator: "\n").map(String.init)
            default: [String]()
            }
        for text in texts {
            do {
                _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            } catch {
                report(path, block.number, "this is not JSON")
            }
        }
    }
}
if count > 0 { exit(1) }
print("\(CommandLine.arguments.count - 1) documents are consistent.")
