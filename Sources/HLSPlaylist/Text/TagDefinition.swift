import MediaTiming

/// The definition of a tag: the properties that are used for lookup, canonical form, validation, rewriting of URIs and
/// reports.
///
/// ``TagName/definition`` has one for each tag.
package struct TagDefinition: Sendable {
    /// The kind of playlist that may contain a tag, and what the tag applies to.
    package enum Scope: Sendable {
        /// Both kinds of playlist; the tag applies to the entire playlist.
        case any
        /// Media playlists; the tag applies to the entire playlist.
        case mediaPlaylist
        /// Media playlists; the tag applies to the segments after it.
        case segment
        /// Media playlists; the tag describes the timeline or the playlist's updates rather than a segment.
        case metadata
        /// Multivariant playlists.
        case multivariant

        /// A Boolean value that indicates whether only multivariant playlists may contain the tag.
        var isMultivariantOnly: Bool { self == .multivariant }

        /// A Boolean value that indicates whether only media playlists may contain the tag.
        var isMediaOnly: Bool {
            switch self {
            case .any, .multivariant: false
            case .mediaPlaylist, .segment, .metadata: true
            }
        }
    }

    /// The syntax of the value of a tag.
    enum Value: Sendable {
        /// No value.
        case none
        /// A decimal integer of at most the given number; a larger one is read as if the tag were missing.
        case integer(maximum: Int64)
        /// A duration in whole seconds; readers accept a decimal number.
        case wholeSeconds
        /// One of the given words.
        case word(EnumeratedWords)
        /// A date (ISO/IEC 8601).
        case date
        /// A byte range: `length[@offset]`.
        case byteRange
        /// A duration, a comma and a title.
        case segmentInformation
        /// An attribute list, with the attributes in the order of the standard.
        case attributes([AttributeDefinition])
    }

    /// The name, without the number sign.
    let name: String
    /// The kind of playlist that may contain the tag, and what the tag applies to.
    package let scope: Scope
    /// The syntax of the value.
    let value: Value
    /// The rule that forbids more than one tag of this name, or `nil` if it may be repeated.
    let repetition: Rule?
    /// The protocol version that the tag requires, unless one of its attributes requires another.
    let version: VersionRequirement?
    /// The additional attributes of date ranges with a certain `CLASS`, by the name of the class.
    let classAttributes: [String: [AttributeDefinition]]
    /// The name of a field of `inspect --json` with the value of the tag, or `nil` if a type of this module writes the
    /// value.
    let reportName: String?

    init(
        _ name: String,
        scope: Scope,
        _ value: Value,
        once repetition: Rule? = nil,
        version: VersionRequirement? = nil,
        classAttributes: [String: [AttributeDefinition]] = [:],
        reportName: String? = nil
    ) {
        self.name = name
        self.scope = scope
        self.value = value
        self.repetition = repetition
        self.version = version
        self.classAttributes = classAttributes
        self.reportName = reportName
    }

    /// The attributes in the order of the standard, or `nil` if the value is not an attribute list.
    var attributes: [AttributeDefinition]? {
        if case .attributes(let attributes) = value { attributes } else { nil }
    }

    /// Returns a Boolean value that indicates whether a text has the syntax of the tag's value; `nil` stands for no value.
    ///
    /// Attributes and enumerated words are not compared with those of the standard.
    package func accepts(_ text: String?) -> Bool {
        switch value {
        case .none: text == nil
        case .integer(let maximum): text.flatMap { Int64($0) }.map { $0 >= 0 && $0 <= maximum } ?? false
        case .wholeSeconds: text.flatMap { Int64($0) }.map { $0 >= 0 } ?? false
        case .attributes: text?.contains("=") ?? false
        case .word, .date, .byteRange, .segmentInformation: text != nil
        }
    }

    /// Returns the definition of an attribute, or `nil` for an attribute that is not defined for the tag.
    func attribute(_ name: String) -> AttributeDefinition? { attributes?.first { $0.name == name } }

    /// Returns a Boolean value that indicates whether a list has all required attributes, and their numbers can be read.
    func isReadable(_ list: AttributeList) -> Bool {
        (attributes ?? []).allSatisfy { attribute in
            guard attribute.requirement != nil else { return true }
            switch attribute.kind {
            case .integer: return list.integer(attribute.name) != nil
            case .decimal, .signedDecimal: return list.decimal(attribute.name) != nil
            case .hexadecimal, .string, .anyString, .enumerated, .enumeratedList, .resolution, .captions:
                return list.written(attribute.name) != nil
            }
        }
    }

    /// The attributes that contain a URI, including those of certain classes.
    var addresses: [AttributeDefinition] {
        let ofClasses = classAttributes.sorted { $0.key < $1.key }.flatMap(\.value)
        return ((attributes ?? []) + ofClasses).filter { $0.role != nil }
    }

    /// A Boolean value that indicates whether the tag applies to the entire playlist, and is written before the
    /// segments.
    var isPlaylistWide: Bool {
        switch scope {
        case .any, .mediaPlaylist: true
        case .metadata: repetition != nil
        case .segment, .multivariant: false
        }
    }
}

/// An attribute that is defined for a tag.
struct AttributeDefinition: Sendable {
    /// A closure that receives the attributes of a tag and returns the role of the URI in one of them; `nil` if players
    /// do not request the URI.
    typealias Role = @Sendable (AttributeList) -> PlaylistAddress.Role?

    let name: String
    let kind: AttributeKind
    /// The rule that requires the attribute, or `nil` if it is optional.
    ///
    /// ``Rule/missingAttribute`` applies to any tag; its violations name the tag and the attribute.
    let requirement: Rule?
    /// The valid words of an enumerated value or list, or `nil` if any word is valid.
    let words: EnumeratedWords?
    /// The protocol version that the attribute requires.
    let version: VersionRequirement?
    /// The role of the URI in the attribute, or `nil` if the value is not a URI that is requested.
    let role: Role?
    /// The field of `inspect --json` with the value, or `nil` if there is none.
    let report: AttributeReport?

    init(
        _ name: String,
        _ kind: AttributeKind,
        required requirement: Rule? = nil,
        words: EnumeratedWords? = nil,
        version: VersionRequirement? = nil,
        role: Role? = nil,
        report: AttributeReport? = nil
    ) {
        self.name = name
        self.kind = kind
        self.requirement = requirement
        self.words = words
        self.version = version
        self.role = role
        self.report = report ?? AttributeReport(attribute: name, kind)
    }

    /// Returns an attribute whose value is `YES` or `NO`.
    static func flag(_ name: String, report: AttributeReport? = nil) -> AttributeDefinition {
        let words = EnumeratedWords(["YES", "NO"], otherwise: .notYesOrNo)
        return AttributeDefinition(name, .enumerated, words: words, report: report)
    }

    /// Returns an attribute with a URI that always has the same role.
    static func address(
        _ name: String,
        _ role: PlaylistAddress.Role,
        required requirement: Rule? = nil
    ) -> AttributeDefinition {
        AttributeDefinition(name, .string, required: requirement, role: { _ in role })
    }
}

/// The syntax of an attribute value (RFC 8216bis §4.2).
enum AttributeKind: Sendable {
    case integer
    case hexadecimal
    case decimal
    case signedDecimal
    case string
    /// A quoted string that may be empty.
    case anyString
    case enumerated
    /// A quoted string with comma-separated words.
    case enumeratedList
    case resolution
    /// A quoted string, or `NONE`.
    case captions
}

/// The valid words of a value, and the rule against other words.
struct EnumeratedWords: Sendable {
    let words: Set<String>
    let rule: Rule

    init(_ words: Set<String>, otherwise rule: Rule) {
        self.words = words
        self.rule = rule
    }
}

/// A protocol version that a feature requires, and the rule that requires it (RFC 8216bis §8).
struct VersionRequirement: Sendable {
    let version: Int64
    let rule: Rule

    init(_ version: Int64, _ rule: Rule) {
        self.version = version
        self.rule = rule
    }
}
