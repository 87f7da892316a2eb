import XMLReading

/// The supported style properties of TTML (TTML2 §10.2, IMSC 1.1 §8).
enum TimedTextProperty: String {
    case backgroundColor
    case color
    case direction
    case display
    case displayAlign
    case extent
    case fontSize
    case fontStyle
    case fontWeight
    case forcedDisplay
    case opacity
    case origin
    case padding
    case position
    case ruby
    case showBackground
    case textAlign
    case textDecoration
    case visibility
    case writingMode
}

/// The attributes of an element: styles, times, identifiers and references.
struct TimedTextAttributes {
    var styles: [TimedTextProperty: String] = [:]
    var id: String?
    var styleIDs: [String] = []
    var region: String?
    var begin: String?
    var end: String?
    var duration: String?
    var isSequence = false
    var preservesSpace: Bool?

    /// The maximum number of style references of an element.
    static let maximumReferenceCount = 32
    /// The maximum length of an identifier, in bytes of UTF-8; limited because lookups take time proportional to it.
    static let maximumIdentifierLength = 256
    /// The maximum length of a style value, in bytes of UTF-8; limited because it is parsed for each element that uses
    /// it.
    static let maximumValueLength = 256

    init() {}

    init(_ attributes: XMLAttributes) {
        for attribute in attributes.attributes {
            let (space, local) = Self.name(attribute.name)
            let length = attribute.value.utf8.count
            switch (space, local) {
            case (.xml, "id") where length <= Self.maximumIdentifierLength: id = attribute.value
            case (.xml, "space"): preservesSpace = attribute.value == "preserve"
            case (.none, "id") where length <= Self.maximumIdentifierLength: id = id ?? attribute.value
            case (.none, "style"):
                styleIDs = attribute.value.split(whereSeparator: \.isWhitespace).prefix(Self.maximumReferenceCount)
                    .map(String.init).filter { $0.utf8.count <= Self.maximumIdentifierLength }
            case (.none, "region") where length <= Self.maximumIdentifierLength: region = attribute.value
            case (.none, "begin"): begin = attribute.value
            case (.none, "end"): end = attribute.value
            case (.none, "dur"): duration = attribute.value
            case (.none, "timeContainer"): isSequence = attribute.value == "seq"
            case (.styling, _) where length <= Self.maximumValueLength:
                if let property = TimedTextProperty(rawValue: local) { styles[property] = attribute.value }
            default: break
            }
        }
    }

    enum Vocabulary {
        case none
        case xml
        case styling
        case parameter
        case other
    }

    /// Returns the vocabulary of an attribute; undeclared prefixes are interpreted as commonly used.
    static func name(_ name: XMLName) -> (space: Vocabulary, local: String) {
        if name.namespace.isEmpty {
            let parts = name.local.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return (.none, name.local) }
            switch parts[0] {
            case "tts", "itts": return (.styling, String(parts[1]))
            case "ttp": return (.parameter, String(parts[1]))
            case "xml": return (.xml, String(parts[1]))
            default: return (.other, String(parts[1]))
            }
        }
        if name.namespace == "http://www.w3.org/XML/1998/namespace" { return (.xml, name.local) }
        // Drafts of TTML use `#style`.
        if name.namespace.hasSuffix("#styling") || name.namespace.hasSuffix("#style") { return (.styling, name.local) }
        if name.namespace.hasSuffix("#parameter") { return (.parameter, name.local) }
        return (.other, name.local)
    }

    /// Returns whether an element belongs to TTML, in any edition or draft.
    static func isContent(_ name: XMLName) -> Bool {
        name.namespace.isEmpty || name.namespace == "http://www.w3.org/ns/ttml"
            || name.namespace.hasPrefix("http://www.w3.org/2006/") && name.namespace.hasSuffix("/ttaf1")
    }
}
