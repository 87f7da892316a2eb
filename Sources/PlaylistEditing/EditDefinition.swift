/// The definition of an edit: the properties that a program needs to offer the edit to its users.
///
/// The options of the command line, the parameters of the server's URLs, the controls of the web console and the
/// documentation are derived from ``PlaylistEdit/definitions``.
public struct EditDefinition: Sendable, Hashable {
    /// The playlists that an edit changes.
    public enum Target: String, Sendable, Hashable {
        /// Multivariant playlists: the edit filters their variants.
        case multivariant
        /// Media playlists, including all media playlists of a presentation.
        case media
        /// Playlists of both kinds.
        case both
    }

    /// The name, for example `max-height`.
    public let name: String
    /// The title of the control in the web console, for example `Maximum height`.
    public let title: String
    /// The effect as an imperative sentence, for help and documentation.
    public let summary: String
    /// The playlists that the edit changes.
    public let target: Target
    /// The parameter, or `nil` for an edit without a value.
    public let parameter: EditParameter?
    /// Valid values; empty for an edit without a parameter.
    public let examples: [String]
}

/// The parameter of an edit.
public struct EditParameter: Sendable, Hashable {
    /// The types of parameters.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A range of bit rates, `LOW...HIGH`, in which either bound may be missing.
        case bitRateRange = "bit-rate-range"
        /// A range of decimal numbers, `LOW...HIGH`, in which either bound may be missing.
        case decimalRange = "decimal-range"
        /// A range of resolutions, `WxH...WxH`, in which either bound may be missing.
        case resolutionRange = "resolution-range"
        /// An integer.
        case integer
        /// A decimal number.
        case decimal
        /// A list of words, separated by commas.
        case list
        /// A list of conditions, `NAME(VALUE)`, separated by commas.
        case conditions
        /// A tag with its value, `NAME=VALUE`, or the name of a tag without a value.
        case tag
        /// A time: seconds or `[HH:]MM:SS[.fraction]`.
        case time
        /// A range of times, `START...END`, in which either bound may be missing.
        case timeRange = "time-range"
        /// A simulated channel: `loop` or `once`, then its start and its window.
        case channel
        /// The URL of a playlist; on the command line also a file.
        case source
        /// A source and a time, `SOURCE@TIME`.
        case sourceAtTime = "source-at-time"
        /// A source and the rule that determines where it is played, `SOURCE@RULE`.
        case sourceAtBreaks = "source-at-breaks"
        /// A rule that determines segments: `cues`, `class=NAME`, `address=TEXT`, or ranges of times.
        case segmentRule = "segment-rule"
        /// An AES-128 key in hexadecimal digits, with an optional initialization vector.
        case key
        /// A text whose form the edit of an application determines.
        case text
    }

    /// The type of the value.
    public let kind: Kind
    /// The placeholder for the value in usage texts, for example `LOW...HIGH`.
    public let placeholder: String
    /// The unit of the numbers in the value, for example `bit/s`, or `nil` for a value without numbers or whose numbers have no
    /// unit.
    public let unit: String?
    /// The least permitted number, or `nil` if there is none or ``exclusiveMinimum`` applies.
    public let minimum: Int?
    /// The number that all permitted numbers exceed, or `nil` if there is none.
    public let exclusiveMinimum: Int?
    /// The greatest permitted number, or `nil` for no limit.
    public let maximum: Int?
    /// The form of valid values, for messages about invalid ones: “a height in pixels”.
    public let form: String

    init(
        _ kind: Kind,
        placeholder: String,
        unit: String? = nil,
        minimum: Int? = nil,
        exclusiveMinimum: Int? = nil,
        maximum: Int? = nil,
        form: String
    ) {
        self.kind = kind
        self.placeholder = placeholder
        self.unit = unit
        self.minimum = minimum
        self.exclusiveMinimum = exclusiveMinimum
        self.maximum = maximum
        self.form = form
    }
}
