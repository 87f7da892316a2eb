/// The rules of a document's style sheets that select cues or parts of them (W3C WebVTT §8.2.1).
///
/// Supported selectors are `::cue`, `::cue(tag)`, `::cue(.class)`, `::cue(tag.class)`, `::cue(#id)`,
/// `::cue(v[voice="name"])` and `::cue(lang[lang="tag"])`, with the properties for color, background, weight, style and
/// underline. Other rules are ignored.
struct WebVTTStyleSheet: Sendable {
    private struct Selector: Sendable {
        var tag = ""
        var classes: [String] = []
        var id = ""
        var annotation: String?
    }

    private struct Rule {
        let selector: Selector?
        let change: Change
    }

    /// The style properties that a rule changes.
    ///
    /// The declarations are parsed once, not for each element to which they apply.
    private struct Change {
        var color: SubtitleColor?
        var background: SubtitleColor?
        var isItalic: Bool?
        var isBold: Bool?
        var isUnderlined: Bool?

        mutating func read(_ name: String, _ value: String) {
            switch name {
            case "color": color = SubtitleColor(value, alpha: .unitInterval) ?? color
            case "background-color", "background": background = SubtitleColor(value, alpha: .unitInterval) ?? background
            case "font-style": isItalic = value == "italic" || value == "oblique"
            case "font-weight": isBold = value == "bold" || value == "bolder" || (Int(value) ?? 400) >= 600
            case "text-decoration", "text-decoration-line": isUnderlined = value.contains("underline")
            default: break
            }
        }

        func apply(to style: inout SubtitleStyle) {
            style.color = color ?? style.color
            style.background = background ?? style.background
            style.isItalic = isItalic ?? style.isItalic
            style.isBold = isBold ?? style.isBold
            style.isUnderlined = isUnderlined ?? style.isUnderlined
        }
    }

    /// The maximum number of rules that are read.
    static let maximumRuleCount = 200
    // The maximum size of a style sheet, in bytes; larger ones are ignored, because those of subtitles are short.
    private static let maximumSize = 65_536
    /// The maximum number of classes of a selector and of an element.
    ///
    /// Limited because comparing the two takes time proportional to the product of their numbers.
    static let maximumClassCount = 16

    private var rules: [Rule] = []

    init(_ sheets: [String]) {
        for sheet in sheets where rules.count < Self.maximumRuleCount { read(sheet) }
    }

    /// Applies the rules for all cues, then the rules for the given cue identifier.
    func apply(to style: inout SubtitleStyle, cueID: String) {
        for rule in rules where rule.selector == nil { rule.change.apply(to: &style) }
        for rule in rules {
            guard let selector = rule.selector, !selector.id.isEmpty, selector.id == cueID, selector.tag.isEmpty else {
                continue
            }
            rule.change.apply(to: &style)
        }
    }

    /// Applies the rules for an element of a text; later rules take precedence.
    func apply(to style: inout SubtitleStyle, _ element: WebVTTNode.Element) {
        let classes = element.classes.prefix(Self.maximumClassCount)
        for rule in rules {
            guard let selector = rule.selector, selector.id.isEmpty else { continue }
            guard selector.tag.isEmpty || selector.tag == element.tag.rawValue else { continue }
            guard selector.classes.allSatisfy(classes.contains) else { continue }
            if let annotation = selector.annotation, annotation != element.annotation { continue }
            rule.change.apply(to: &style)
        }
    }

    private mutating func read(_ sheet: String) {
        guard sheet.utf8.count <= Self.maximumSize else { return }
        for block in Self.withoutComments(sheet).split(separator: "}") {
            guard rules.count < Self.maximumRuleCount else { return }
            let parts = block.split(separator: "{", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            var change = Change()
            for declaration in parts[1].split(separator: ";").prefix(64) {
                let pair = declaration.split(separator: ":", maxSplits: 1)
                if pair.count == 2 { change.read(Self.trimmed(pair[0]).lowercased(), Self.trimmed(pair[1])) }
            }
            for selector in parts[0].split(separator: ",") where rules.count < Self.maximumRuleCount {
                let text = Self.trimmed(selector)
                if text == "::cue" {
                    rules.append(Rule(selector: nil, change: change))
                } else if text.hasPrefix("::cue("), text.hasSuffix(")") {
                    guard let selector = Self.selector(text.dropFirst(6).dropLast()) else { continue }
                    rules.append(Rule(selector: selector, change: change))
                }
            }
        }
    }

    private static func selector(_ text: Substring) -> Selector? {
        var selector = Selector()
        var rest = text
        if let open = rest.firstIndex(of: "[") {
            guard rest.hasSuffix("]") else { return nil }
            let pair = rest[rest.index(after: open)...].dropLast().split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0] == "voice" || pair[0] == "lang" else { return nil }
            selector.annotation = pair[1].filter { $0 != "\"" && $0 != "'" }
            rest = rest[..<open]
        }
        // Combinators and the time-related pseudo-classes are not supported.
        guard !rest.contains(where: { " >+~:*[".contains($0) }) else { return nil }
        if rest.hasPrefix("#") {
            selector.id = rest.dropFirst().filter { $0 != "\\" }
            return selector.id.isEmpty ? nil : selector
        }
        let names = rest.split(separator: ".", omittingEmptySubsequences: false)
        selector.tag = String(names.first ?? "")
        guard names.count <= maximumClassCount + 1 else { return nil }
        selector.classes = names.dropFirst().map(String.init)
        let isEmpty = selector.tag.isEmpty && selector.classes.isEmpty && selector.annotation == nil
        return isEmpty || selector.classes.contains("") ? nil : selector
    }

    private static func trimmed(_ text: Substring) -> String {
        var rest = text.drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }

    private static func withoutComments(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstRange(of: "/*") {
            result += rest[..<open.lowerBound]
            guard let close = rest[open.upperBound...].firstRange(of: "*/") else { return result }
            rest = rest[close.upperBound...]
        }
        return result + rest
    }
}
