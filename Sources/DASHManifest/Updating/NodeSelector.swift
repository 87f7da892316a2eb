import MediaTiming
import XMLReading

/// A selector of one node of a document: the subset of XPath that patches use (RFC 5261 §4.1).
///
/// A path begins at the root. Each step has the name of an element or `*`, and conditions in brackets: a position from
/// 1, `last()`, or an attribute that is equal to a value. The last step may be an attribute or `text()`. Prefixes are
/// ignored, because all elements of a manifest that patches change have one namespace.
struct NodeSelector {
    /// The node of an element that is selected.
    enum Target: Hashable {
        case element
        case attribute(String)
        case text
    }

    enum Condition: Hashable {
        case position(Int)
        case last
        case attribute(name: String, value: String)
    }

    struct Step: Hashable {
        /// The local name of the element, or `nil` for any.
        var name: String?
        var conditions: [Condition] = []
    }

    private(set) var steps: [Step] = []
    private(set) var target = Target.element
    /// The selector as it was written.
    let text: String

    /// The maximum length of a selector, in bytes; real ones have less than 300.
    private static let maximumLength = 4_096

    /// Creates a selector from text; `nil` if it is not of the supported form.
    init?(_ text: String) {
        self.text = text
        var scanner = Scanner(rest: ManifestNumber.trimmed(text)[...])
        guard text.utf8.count <= Self.maximumLength else { return nil }
        while scanner.skip("/") {
            guard target == .element else { return nil }
            if scanner.skip("@") {
                guard let name = scanner.name() else { return nil }
                target = .attribute(name)
            } else if scanner.skip("text()") {
                _ = scanner.skip("[1]")
                target = .text
            } else {
                guard let step = scanner.step() else { return nil }
                steps.append(step)
            }
        }
        guard scanner.rest.isEmpty, !steps.isEmpty else { return nil }
    }

    private struct Scanner {
        var rest: Substring

        mutating func skip(_ text: String) -> Bool {
            guard rest.hasPrefix(text) else { return false }
            rest = rest.dropFirst(text.count)
            return true
        }

        /// Reads a name without its prefix.
        mutating func name() -> String? {
            let found = rest.prefix { $0.isLetter || $0.isNumber || "_-.:".contains($0) }
            rest = rest[found.endIndex...]
            return found.split(separator: ":").last.map(String.init)
        }

        mutating func step() -> Step? {
            var step = Step()
            if !skip("*") {
                guard let name = name() else { return nil }
                step.name = name
            }
            while skip("[") {
                guard let condition = condition(), skip("]") else { return nil }
                step.conditions.append(condition)
            }
            return step
        }

        private mutating func condition() -> Condition? {
            if skip("last()") { return .last }
            guard skip("@") else {
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                rest = rest[digits.endIndex...]
                return ManifestNumber.integer(String(digits)).map { .position(Int(clamping: $0)) }
            }
            guard let name = name(), skip("=") else { return nil }
            for quote in ["'", "\""] where skip(quote) {
                guard let end = rest.firstRange(of: quote) else { return nil }
                let value = String(rest[..<end.lowerBound])
                rest = rest[end.upperBound...]
                return .attribute(name: name, value: value)
            }
            // Numbers need no quotation marks.
            let value = rest.prefix { $0.isASCII && ($0.isNumber || $0 == "-" || $0 == ".") }
            rest = rest[value.endIndex...]
            return value.isEmpty ? nil : .attribute(name: name, value: String(value))
        }
    }

    /// Returns the elements that the steps select, and subtracts the number of visited nodes from a budget.
    func elements(in document: ManifestDocument, budget: inout Int) -> [Int] {
        guard let first = steps.first, matches(first.name, document.root, document) else { return [] }
        var selected = Self.filtered([document.root], first.conditions, document)
        for step in steps.dropFirst() {
            var next: [Int] = []
            for parent in selected {
                budget -|= document.nodes[parent].contents.count +| 1
                guard budget > 0 else { return [] }
                let candidates = document.children(of: parent).filter { matches(step.name, $0, document) }
                next += Self.filtered(candidates, step.conditions, document)
            }
            selected = next
        }
        return selected
    }

    private func matches(_ name: String?, _ index: Int, _ document: ManifestDocument) -> Bool {
        guard let name else { return true }
        let local = document.nodes[index].name.local
        return local == name || local.split(separator: ":").last.map(String.init) == name
    }

    private static func filtered(
        _ candidates: [Int],
        _ conditions: [Condition],
        _ document: ManifestDocument
    ) -> [Int] {
        conditions.reduce(candidates) { remaining, condition in
            switch condition {
            case .last: Array(remaining.suffix(1))
            case .position(let position):
                position >= 1 && position <= remaining.count ? [remaining[position -| 1]] : []
            case .attribute(let name, let value):
                remaining.filter { index in
                    document.nodes[index].attributes.contains { $0.name.local == name && $0.value == value }
                }
            }
        }
    }
}
