/// The rules of a document's style sheets that name cues or parts of them (W3C WebVTT §8.2.1).
///
/// Read are `::cue`, `::cue(tag)`, `::cue(.class)`, `::cue(tag.class)`, `::cue(#id)` and `::cue(v[voice="name"])` with the
/// properties for colour, background, weight, style and underline; other rules are left out.
struct WebVTTStyleSheet {
    private struct Selector {
        var tag = ""
        var classes: [String] = []
        var id = ""
        var annotation: String?
    }

    private struct Rule {
        let selector: Selector?
        let declarations: [(name: String, value: String)]
    }

    /// Further rules are not read.
    static let mostRules = 200
    // Bytes: style sheets of subtitles are short.
    private static let mostLength = 65_536

    private var rules: [Rule] = []

    init(_ sheets: [String]) {
        for sheet in sheets where rules.count < Self.mostRules { read(sheet) }
    }

    /// Applies rules for all cues, then those for cues of a name.
    func apply(to style: inout SubtitleStyle, cueID: String) {
        for rule in rules where rule.selector == nil { Self.apply(rule, &style) }
        for rule in rules {
            guard let selector = rule.selector, !selector.id.isEmpty, selector.id == cueID, selector.tag.isEmpty else {
                continue
            }
            Self.apply(rule, &style)
        }
    }

    /// Applies rules for a part of a text; of several the last counts.
    func apply(to style: inout SubtitleStyle, _ element: WebVTTNode.Element) {
        for rule in rules {
            guard let selector = rule.selector, selector.id.isEmpty else { continue }
            guard selector.tag.isEmpty || selector.tag == element.tag.rawValue else { continue }
            guard selector.classes.allSatisfy(element.classes.contains) else { continue }
            if let annotation = selector.annotation, annotation != element.annotation { continue }
            Self.apply(rule, &style)
        }
    }

    private mutating func read(_ sheet: String) {
        guard sheet.utf8.count <= Self.mostLength else { return }
        for block in Self.withoutComments(sheet).split(separator: "}") {
            guard rules.count < Self.mostRules else { return }
            let parts = block.split(separator: "{", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let declarations = parts[1].split(separator: ";").prefix(64).compactMap { declaration in
                let pair = declaration.split(separator: ":", maxSplits: 1)
                return pair.count == 2 ? (Self.trimmed(pair[0]).lowercased(), Self.trimmed(pair[1])) : nil
            }
            for selector in parts[0].split(separator: ",") where rules.count < Self.mostRules {
                let text = Self.trimmed(selector)
                if text == "::cue" {
                    rules.append(Rule(selector: nil, declarations: declarations))
                } else if text.hasPrefix("::cue("), text.hasSuffix(")") {
                    guard let selector = Self.selector(text.dropFirst(6).dropLast()) else { continue }
                    rules.append(Rule(selector: selector, declarations: declarations))
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
        // Combinators and pseudo-classes of time are not known here.
        guard !rest.contains(where: { " >+~:*[".contains($0) }) else { return nil }
        if rest.hasPrefix("#") {
            selector.id = rest.dropFirst().filter { $0 != "\\" }
            return selector.id.isEmpty ? nil : selector
        }
        let names = rest.split(separator: ".", omittingEmptySubsequences: false)
        selector.tag = String(names.first ?? "")
        selector.classes = names.dropFirst().map(String.init)
        let isEmpty = selector.tag.isEmpty && selector.classes.isEmpty && selector.annotation == nil
        return isEmpty || selector.classes.contains("") ? nil : selector
    }

    private static func apply(_ rule: Rule, _ style: inout SubtitleStyle) {
        for (name, value) in rule.declarations {
            switch name {
            case "color": style.color = SubtitleColor(value, alpha: .part) ?? style.color
            case "background-color", "background":
                style.background = SubtitleColor(value, alpha: .part) ?? style.background
            case "font-style": style.isItalic = value == "italic" || value == "oblique"
            case "font-weight":
                style.isBold = value == "bold" || value == "bolder" || (Int(value) ?? 400) >= 600
            case "text-decoration", "text-decoration-line": style.isUnderlined = value.contains("underline")
            default: break
            }
        }
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
