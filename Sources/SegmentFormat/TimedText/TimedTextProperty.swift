import XMLReading

/// The styles of TTML that are drawn (TTML2 §10.2, IMSC 1.1 §8).
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

/// What an element says about itself: styles, times, names.
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

    /// Further references of an element are not followed.
    static let mostReferences = 32
    /// The maximum length of an identifier, in bytes of UTF-8; each look-up costs as much.
    static let longestIdentifier = 256
    /// The maximum length of the value of a style, in bytes of UTF-8: it is read again for each element that refers to it.
    static let longestValue = 256

    init() {}

    init(_ attributes: XMLAttributes) {
        for attribute in attributes.all {
            let (space, local) = Self.name(attribute.name)
            let length = attribute.value.utf8.count
            switch (space, local) {
            case (.xml, "id") where length <= Self.longestIdentifier: id = attribute.value
            case (.xml, "space"): preservesSpace = attribute.value == "preserve"
            case (.none, "id") where length <= Self.longestIdentifier: id = id ?? attribute.value
            case (.none, "style"):
                styleIDs = attribute.value.split(whereSeparator: \.isWhitespace).prefix(Self.mostReferences)
                    .map(String.init).filter { $0.utf8.count <= Self.longestIdentifier }
            case (.none, "region") where length <= Self.longestIdentifier: region = attribute.value
            case (.none, "begin"): begin = attribute.value
            case (.none, "end"): end = attribute.value
            case (.none, "dur"): duration = attribute.value
            case (.none, "timeContainer"): isSequence = attribute.value == "seq"
            case (.styling, _) where length <= Self.longestValue:
                if let property = TimedTextProperty(rawValue: local) { styles[property] = attribute.value }
            default: break
            }
        }
    }

    enum Space {
        case none
        case xml
        case styling
        case parameter
        case other
    }

    /// Which vocabulary an attribute belongs to; prefixes that are not declared mean what they mostly do.
    static func name(_ name: XMLName) -> (space: Space, local: String) {
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
        // Drafts of TTML ended in `#style`.
        if name.namespace.hasSuffix("#styling") || name.namespace.hasSuffix("#style") { return (.styling, name.local) }
        if name.namespace.hasSuffix("#parameter") { return (.parameter, name.local) }
        return (.other, name.local)
    }

    /// Whether an element is one of TTML's, of any edition or draft.
    static func isContent(_ name: XMLName) -> Bool {
        name.namespace.isEmpty || name.namespace == "http://www.w3.org/ns/ttml"
            || name.namespace.hasPrefix("http://www.w3.org/2006/") && name.namespace.hasSuffix("/ttaf1")
    }
}
