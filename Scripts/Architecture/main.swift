// Writes the diagram and the tables of targets into the documentation, or checks that they are up to date.
//
// Usage: architecture MANIFEST TARGETS [--check] FILE …
//
// MANIFEST is the output of `swift package dump-package`, TARGETS the file docs/targets.txt. In each FILE, the text between
// the markers `<!-- begin NAME (Scripts/architecture) -->` and `<!-- end NAME -->` is replaced by the block of this name.

import Foundation

// MARK: Input

/// The parts of a package's manifest that the documentation needs.
struct Manifest: Decodable {
    struct Target: Decodable {
        let name: String
        let type: String
        let path: String?
        let dependencies: [Dependency]

        /// A Boolean value that indicates whether the target is described in docs/targets.txt.
        var isDescribed: Bool { type != "test" && path.map { $0.hasPrefix("Sources/") } ?? true }
    }

    /// A dependency on another target of the package, or on a product of another package.
    struct Dependency: Decodable {
        let name: String
        let package: String?
        /// The platforms and traits with which the dependency exists; empty if it always exists.
        let conditions: [String]

        private struct Condition: Decodable {
            let platformNames: [String]?
            let traits: [String]?
        }

        private enum Kind: String, CodingKey { case byName, target, product }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Kind.self)
            guard let kind = container.allKeys.first else {
                throw Failure("swift package dump-package wrote a dependency of an unknown kind")
            }
            var fields = try container.nestedUnkeyedContainer(forKey: kind)
            name = try fields.decode(String.self)
            package = kind == .product ? try fields.decodeIfPresent(String.self) : nil
            if kind == .product { _ = try fields.decodeNil() }
            let condition = try fields.decodeIfPresent(Condition.self)
            let platforms = ["linux": "Linux", "macos": "macOS", "ios": "iOS", "tvos": "tvOS"]
            conditions =
                (condition?.platformNames ?? []).map { platforms[$0] ?? $0 }
                + (condition?.traits ?? []).map { "trait `\($0)`" }
        }
    }

    struct Product: Decodable {
        let name: String
        let targets: [String]
    }

    let targets: [Target]
    let products: [Product]
}

struct Layer {
    let name: String
    let summary: String
    var targets: [String] = []
}

/// The content of docs/targets.txt: layers from the lowest to the highest, and the purpose of each target.
struct Descriptions {
    private(set) var layers: [Layer] = []
    private(set) var purposes: [String: String] = [:]

    init(_ text: String) throws {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.isEmpty || line.hasPrefix("#") { continue }
            if let heading = line.firstMatch(of: #/^\[(.+)\] (.+)$/#) {
                layers.append(Layer(name: String(heading.1), summary: String(heading.2)))
            } else if let target = line.firstMatch(of: #/^([\w-]+): (.+\.)$/#), !layers.isEmpty {
                let name = String(target.1)
                guard purposes.updateValue(String(target.2), forKey: name) == nil else {
                    throw Failure("docs/targets.txt:\(index + 1): \(name) has two purposes")
                }
                layers[layers.count - 1].targets.append(name)
            } else {
                throw Failure("docs/targets.txt:\(index + 1): expected `[LAYER] SENTENCE` or `TARGET: SENTENCE.`")
            }
        }
    }
}

struct Failure: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

// MARK: Architecture

struct Architecture {
    let manifest: Manifest
    let descriptions: Descriptions
    private let targets: [String: Manifest.Target]

    init(_ manifest: Manifest, _ descriptions: Descriptions) {
        self.manifest = manifest
        self.descriptions = descriptions
        targets = Dictionary(uniqueKeysWithValues: manifest.targets.filter(\.isDescribed).map { ($0.name, $0) })
    }

    /// The contradictions between the manifest and the descriptions, as sentences.
    var contradictions: [String] {
        var found: [String] = []
        let level = Dictionary(
            uniqueKeysWithValues: descriptions.layers.enumerated().flatMap { index, layer in
                layer.targets.map { ($0, index) }
            }
        )
        for name in targets.keys.sorted() where level[name] == nil {
            found.append("docs/targets.txt has no line for \(name): add its purpose to the layer it belongs to")
        }
        for name in level.keys.sorted() where targets[name] == nil {
            found.append("docs/targets.txt describes \(name), which is no target below Sources: delete the line")
        }
        for target in targets.values.sorted(by: { $0.name < $1.name }) {
            for dependency in local(target.dependencies) {
                guard let own = level[target.name], let other = level[dependency.name], other > own else { continue }
                found.append(
                    "\(target.name) (\(descriptions.layers[own].name)) depends on \(dependency.name)"
                        + " (\(descriptions.layers[other].name)), which is a higher layer"
                )
            }
        }
        return found
    }

    func block(_ name: String) throws -> String {
        switch name {
        case "diagram": diagram
        case "targets": targetTable
        case "libraries": libraryTable
        case "modules": moduleTable
        default: throw Failure("there is no block named \(name)")
        }
    }

    /// A Mermaid diagram of the targets in their layers.
    ///
    /// A dependency that follows from others is left out.
    private var diagram: String {
        var lines = ["```mermaid", "flowchart TD"]
        for layer in descriptions.layers.reversed() {
            lines.append("    subgraph \(identifier(layer.name))[\"\(layer.name)\"]")
            lines += layer.targets.map { "        \(identifier($0))[\"\($0)\"]" }
            lines.append("    end")
        }
        for name in descriptions.layers.reversed().flatMap(\.targets) {
            let dependencies = local(targets[name]?.dependencies ?? [])
            for dependency in dependencies {
                let isImplied = dependencies.contains {
                    $0.name != dependency.name && reachable(from: $0.name).contains(dependency.name)
                }
                if isImplied { continue }
                let arrow = dependency.conditions.isEmpty ? "-->" : "-.->"
                lines.append("    \(identifier(name)) \(arrow) \(identifier(dependency.name))")
            }
        }
        return (lines + ["```"]).joined(separator: "\n")
    }

    /// A table of the targets with their dependencies in the package.
    private var targetTable: String {
        var lines = ["| Layer | Target | Product | Depends on | Purpose |", "|---|---|---|---|---|"]
        for layer in descriptions.layers.reversed() {
            for (index, name) in layer.targets.enumerated() {
                let dependencies = local(targets[name]?.dependencies ?? []).map(text)
                lines.append(
                    row(
                        index == 0 ? "**\(layer.name)**" : "",
                        "`\(name)`",
                        product(of: name),
                        dependencies.joined(separator: ", "),
                        descriptions.purposes[name] ?? ""
                    )
                )
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A table of the products of other packages, with the targets that use them.
    private var libraryTable: String {
        var users: [String: [String]] = [:]
        var products: [String: Set<String>] = [:]
        for name in descriptions.layers.flatMap(\.targets) {
            let dependencies = targets[name]?.dependencies ?? []
            for package in Set(dependencies.compactMap(\.package)).sorted() { users[package, default: []].append(name) }
            for dependency in dependencies {
                if let package = dependency.package { products[package, default: []].insert(dependency.name) }
            }
        }
        var lines = ["| Package | Products | Used by |", "|---|---|---|"]
        for (package, names) in users.sorted(by: { $0.key.lowercased() < $1.key.lowercased() }) {
            lines.append(row(package, list((products[package] ?? []).sorted()), list(names)))
        }
        return lines.joined(separator: "\n")
    }

    /// A table of the targets with their purposes, without system libraries.
    private var moduleTable: String {
        var lines = ["| Module | Product | Purpose |", "|---|---|---|"]
        for layer in descriptions.layers.reversed() {
            for name in layer.targets where targets[name]?.type != "system" {
                lines.append(row("`\(name)`", product(of: name), descriptions.purposes[name] ?? ""))
            }
        }
        return lines.joined(separator: "\n")
    }

    private func local(_ dependencies: [Manifest.Dependency]) -> [Manifest.Dependency] {
        dependencies.filter { $0.package == nil }
    }

    private func product(of target: String) -> String {
        let names = manifest.products.filter { $0.targets.contains(target) }.map(\.name)
        if names.isEmpty { return "" }
        return targets[target]?.type == "executable" ? "program `\(names[0])`" : "library"
    }

    private func text(_ dependency: Manifest.Dependency) -> String {
        dependency.conditions.isEmpty
            ? "`\(dependency.name)`" : "`\(dependency.name)` (\(dependency.conditions.joined(separator: ", ")))"
    }

    private func row(_ cells: String...) -> String {
        "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined()
    }

    private func list(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }

    /// The targets that a target depends on, directly or not.
    private func reachable(from name: String) -> Set<String> {
        var found: Set<String> = []
        var unvisited = [name]
        while let next = unvisited.popLast() {
            for dependency in local(targets[next]?.dependencies ?? []) where found.insert(dependency.name).inserted {
                unvisited.append(dependency.name)
            }
        }
        return found
    }

    private func identifier(_ name: String) -> String { name.replacing(" ", with: "_").replacing("-", with: "_") }
}

// MARK: Files

/// Returns the text with its generated blocks replaced.
func replacingBlocks(in text: String, of path: String, with architecture: Architecture) throws -> String {
    var result: [Substring] = []
    var inside: Substring?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if let begin = line.wholeMatch(of: #/<!-- begin (\w+) \(Scripts/architecture\) -->/#) {
            inside = begin.1
            result += [line, "", Substring(try architecture.block(String(begin.1))), ""]
        } else if let name = inside {
            guard line == "<!-- end \(name) -->" else { continue }
            inside = nil
            result.append(line)
        } else {
            result.append(line)
        }
    }
    if let inside { throw Failure("\(path): the block \(inside) has no end: add <!-- end \(inside) -->") }
    guard result.contains(where: { $0.hasPrefix("<!-- begin ") }) else {
        throw Failure("\(path) has no block: add <!-- begin NAME (Scripts/architecture) --> and <!-- end NAME -->")
    }
    return result.joined(separator: "\n")
}

func run() throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let checksOnly = arguments.contains("--check")
    arguments.removeAll { $0 == "--check" }
    guard arguments.count >= 3 else { throw Failure("usage: architecture MANIFEST TARGETS [--check] FILE …") }
    let architecture = Architecture(
        try JSONDecoder().decode(Manifest.self, from: Data(contentsOf: URL(fileURLWithPath: arguments[0]))),
        try Descriptions(String(contentsOfFile: arguments[1], encoding: .utf8))
    )
    let contradictions = architecture.contradictions
    guard contradictions.isEmpty else { throw Failure(contradictions.joined(separator: "\nerror: ")) }
    var outdated: [String] = []
    for path in arguments.dropFirst(2) {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let current = try replacingBlocks(in: text, of: path, with: architecture)
        if current == text { continue }
        outdated.append(path)
        if !checksOnly { try current.write(toFile: path, atomically: true, encoding: .utf8) }
    }
    if checksOnly, !outdated.isEmpty {
        throw Failure("\(outdated.joined(separator: ", ")) differ from Package.swift: run Scripts/architecture")
    }
    for path in outdated { print("Updated \(path)") }
}

do {
    try run()
} catch let failure as Failure {
    FileHandle.standardError.write(Data("error: \(failure.message)\n".utf8))
    exit(1)
}
