import HLSPlaylist
import MediaTiming

/// A type of values of edits: its description, and its conversion from and to text.
struct EditValueType<Value: Sendable>: Sendable {
    /// The description of the parameter, or `nil` for edits without a value.
    let parameter: EditParameter?
    /// Returns the value that a text contains, or `nil` if the text is invalid.
    let parse: @Sendable (String) -> Value?
    /// Returns the normalized form of a value.
    let format: @Sendable (Value) -> String
    /// Returns the part of an invalid text that is wrong; `nil` if it is the whole text.
    var invalidPart: @Sendable (String) -> InvalidEditPart? = { _ in nil }
    /// Returns the source in a value, or `nil` if it contains none.
    var source: @Sendable (Value) -> String? = { _ in nil }
    /// Returns a value with another source.
    var replacingSource: @Sendable (Value, String) -> Value = { value, _ in value }
}

/// The part of the value of an edit that is invalid.
struct InvalidEditPart: Error {
    /// The name of the part, such as “the time”; `nil` for an entry of a list.
    var name: String?
    /// The text of the part.
    let value: String
    /// The form of valid parts; `nil` for that of the value.
    var expected: String?
}

extension EditValueType where Value == Void {
    /// No value, or one that switches the edit on.
    static var none: EditValueType {
        EditValueType(parameter: nil, parse: { EditSwitch.isOn($0) ? () : nil }, format: { _ in "" })
    }
}

/// A namespace for the values of edits without a parameter.
enum EditSwitch {
    /// The form of the values, for error messages.
    static let form = "empty, 1 or true (0 or false leaves it out)"

    /// Returns a Boolean value that indicates whether a value switches an edit on.
    static func isOn(_ value: String) -> Bool { ["", "1", "true"].contains(value) }

    /// Returns a Boolean value that indicates whether a value leaves an edit out.
    static func isOff(_ value: String) -> Bool { ["0", "false"].contains(value) }
}

extension EditValueType where Value == PartialRange<BitRate> {
    /// A range of bit rates in bits per second.
    static var bitRates: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .bitRateRange,
                placeholder: "LOW...HIGH",
                unit: "bit/s",
                minimum: 0,
                form: "LOW...HIGH in bit/s with LOW at most HIGH, such as 900k...4M"
            ),
            parse: { PartialRange<BitRate>($0) },
            format: { "\($0.low?.bitsPerSecond.description ?? "")...\($0.high?.bitsPerSecond.description ?? "")" }
        )
    }
}

extension EditValueType where Value == PartialRange<MediaTime> {
    /// A range of frame rates in frames per second.
    static var frameRates: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .decimalRange,
                placeholder: "LOW...HIGH",
                unit: "fps",
                minimum: 0,
                form: "LOW...HIGH in frames per second with LOW at most HIGH, such as ...30"
            ),
            parse: { text in
                PartialRange(text) { bound in MediaTime(decimal: bound).flatMap { $0 < .zero ? nil : $0 } }
            },
            format: { "\($0.low?.description ?? "")...\($0.high?.description ?? "")" }
        )
    }
}

extension EditValueType where Value == PartialRange<MediaTime> {
    /// A range of numbers of audio channels.
    static var channelCounts: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .decimalRange,
                placeholder: "LOW...HIGH",
                form: "a number or LOW...HIGH, in channels"
            ),
            parse: { text in
                // A number alone is the only one that is wanted.
                PartialRange(text.contains("...") ? text : "\(text)...\(text)") { bound in
                    UInt16(bound).map { MediaTime(seconds: Int64($0)) }
                }
            },
            format: frameRates.format
        )
    }
}

extension EditValueType where Value == ResolutionRange {
    /// A range of resolutions in pixels.
    static var resolutions: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .resolutionRange,
                placeholder: "WxH...WxH",
                unit: "px",
                minimum: 1,
                maximum: ResolutionRange.maximum,
                form: "WxH...WxH in pixels, such as 640x360...1280x720 or ...1920x1080"
            ),
            parse: { ResolutionRange($0) },
            format: \.description
        )
    }
}

extension EditValueType where Value == [String] {
    /// A list of words, separated by commas.
    ///
    /// - Parameters:
    ///   - placeholder: The placeholder for the list in usage texts.
    ///   - form: The form of valid lists.
    ///   - word: A closure that returns a word in its normalized form, or `nil` if it is invalid.
    /// - Returns: The type of value.
    static func list(
        placeholder: String,
        form: String,
        word: @escaping @Sendable (String) -> String?
    ) -> EditValueType {
        EditValueType(
            parameter: EditParameter(.list, placeholder: placeholder, form: form),
            parse: { text in
                guard text.utf8.count <= Self.maximumListLength else { return nil }
                var words: [String] = []
                for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                    guard let word = word(String(part.trimmingSpaces)), !word.isEmpty else { return nil }
                    if !words.contains(word) { words.append(word) }
                }
                return words.count <= Self.maximumWordCount ? words : nil
            },
            format: { $0.joined(separator: ",") },
            invalidPart: { text in
                guard text.utf8.count <= Self.maximumListLength else { return nil }
                return text.split(separator: ",").lazy.map { String($0.trimmingSpaces) }.first { word($0) == nil }.map {
                    InvalidEditPart(value: $0)
                }
            }
        )
    }

    /// The maximum length of a list in bytes.
    private static var maximumListLength: Int { 1_024 }
    /// The maximum number of words, with each of which the entries of a playlist are compared.
    private static var maximumWordCount: Int { 32 }
}

extension EditValueType where Value == [String] {
    /// Dynamic ranges of video.
    static var videoRanges: EditValueType {
        .list(placeholder: "RANGES", form: "a list of SDR, HLG and PQ") { word in
            let range = VideoRange(rawValue: word.uppercased())
            return [.sdr, .hlg, .pq].contains(range) ? range.rawValue : nil
        }
    }

    /// Codecs, or their beginnings.
    static var codecPrefixes: EditValueType {
        .list(placeholder: "CODECS", form: "a list of codecs or their beginnings, such as avc1,mp4a.40") { word in
            word.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
                ? word : nil
        }
    }

    /// Language ranges (RFC 4647).
    static var languageRanges: EditValueType {
        .list(placeholder: "LANGUAGES", form: "a list of language tags, such as en,pt-BR") { word in
            word == "*" || word.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") } ? word : nil
        }
    }

    /// Characteristics of renditions, which are uniform type identifiers.
    static var characteristics: EditValueType {
        .list(
            placeholder: "CHARACTERISTICS",
            form: "a list of characteristics, such as public.accessibility.describes-video"
        ) { word in
            word.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
                ? word : nil
        }
    }

    static var captionTypes: EditValueType { names(of: CaptionType.self) }

    static var contentTypes: EditValueType { names(of: ContentType.self) }

    /// The raw values of an enumeration.
    private static func names<Name>(of type: Name.Type) -> EditValueType
    where Name: CaseIterable & RawRepresentable & SendableMetatype, Name.RawValue == String {
        .list(
            placeholder: "TYPES",
            form: "a list of \(type.allCases.map(\.rawValue).joined(separator: ", "))"
        ) { Name(rawValue: $0.lowercased())?.rawValue }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

extension Substring {
    /// The text without spaces at both ends.
    fileprivate var trimmingSpaces: Substring {
        var rest = self
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}

extension EditValueType where Value == TagAssignment {
    /// A tag of an entire playlist with its value.
    static var tagAssignment: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .tag,
                placeholder: "NAME=VALUE",
                form: "a tag of the entire playlist and its value, such as EXT-X-START=TIME-OFFSET=10"
            ),
            parse: { TagAssignment($0) },
            format: \.description
        )
    }
}

extension EditValueType where Value == Int {
    /// An integer within a range.
    static func integer(
        in range: ClosedRange<Int>,
        unit: String? = nil,
        placeholder: String,
        form: String
    ) -> EditValueType {
        EditValueType(
            parameter: EditParameter(
                .integer,
                placeholder: placeholder,
                unit: unit,
                minimum: range.lowerBound,
                maximum: range.upperBound,
                form: "\(form) from \(range.lowerBound) to \(range.upperBound)"
            ),
            parse: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } },
            format: { String($0) }
        )
    }
}

extension EditValueType where Value == Int {
    /// The height of video in pixels.
    static var heights: EditValueType {
        .integer(in: 1...65_535, unit: "px", placeholder: "PIXELS", form: "a height in pixels")
    }
}

extension EditValueType where Value == MediaTime {
    /// A decimal number, such as `2.5`, of at least a minimum and, if there is one, at most a maximum.
    static func decimal(
        from minimum: Int,
        through maximum: Int? = nil,
        unit: String? = nil,
        placeholder: String,
        form: String
    ) -> EditValueType {
        let (low, high) = (MediaTime(seconds: Int64(minimum)), maximum.map { MediaTime(seconds: Int64($0)) })
        return EditValueType(
            parameter: EditParameter(
                .decimal,
                placeholder: placeholder,
                unit: unit,
                minimum: minimum,
                maximum: maximum,
                form: maximum.map { "\(form) from \(minimum) to \($0)" } ?? "\(form), \(minimum) or more"
            ),
            parse: { text in
                MediaTime(decimal: text).flatMap { $0 < low || $0 > (high ?? $0) ? nil : $0 }
            },
            format: \.description
        )
    }

    /// A value of `SCORE`, for which the standard has no unit and no maximum.
    static var score: EditValueType { .decimal(from: 0, placeholder: "SCORE", form: "a decimal number") }
}

extension EditValueType where Value == MediaTime {
    /// A time in seconds, zero or later.
    static var time: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .time,
                placeholder: "TIME",
                unit: "s",
                minimum: 0,
                form: "a time, such as 12.5 or 00:01:30"
            ),
            parse: { ClockTime.parse($0) },
            format: \.description
        )
    }

    /// A duration in seconds, greater than zero.
    static var duration: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .time,
                placeholder: "TIME",
                unit: "s",
                exclusiveMinimum: 0,
                form: "a duration greater than zero, such as 30 or 00:01:30"
            ),
            parse: { text in ClockTime.parse(text).flatMap { $0 > .zero ? $0 : nil } },
            format: \.description
        )
    }
}

extension EditValueType where Value == MediaTimeRange {
    /// A range of times in seconds.
    static var timeRange: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .timeRange,
                placeholder: "START...END",
                unit: "s",
                minimum: 0,
                form: "START...END in seconds or h:mm:ss with START before END, such as 10...20 or 1:00..."
            ),
            parse: { MediaTimeRange(partial: $0) },
            format: \.editText
        )
    }
}

extension EditValueType where Value == SimulatedChannel {
    /// A simulated channel.
    static var channel: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .channel,
                placeholder: "CHANNEL",
                form:
                    "loop or once, then start=DATE, which once requires, window=SECONDS, and part=SECONDS for a low-latency "
                    + "playlist, such as loop,window=120"
            ),
            parse: { SimulatedChannel($0) },
            format: \.description
        )
    }
}

extension EditValueType where Value == String {
    /// The source of another playlist.
    static var source: EditValueType {
        EditValueType(
            parameter: EditParameter(.source, placeholder: "SOURCE", form: "the URL of a playlist"),
            parse: { $0.isEmpty ? nil : $0 },
            format: { $0 },
            source: { $0 },
            replacingSource: { _, source in source }
        )
    }
}

/// The source of another playlist and the time at which it is inserted.
struct SourceAtTime: Sendable {
    var source: String
    let time: MediaTime
    /// The place at this time in the reference track of the presentation; `nil` to use the boundary nearest to the
    /// time.
    var seam: TrackSeam?

    /// The time, or the place in the reference track.
    fileprivate var placeText: String { seam?.timeText ?? time.description }
}

extension EditValueType where Value == SourceAtTime {
    /// The source of another playlist and a time, separated by the last `@`; see ``SourceAtPlace``.
    static var sourceAtTime: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .sourceAtTime,
                placeholder: "SOURCE@TIME",
                unit: "s",
                minimum: 0,
                form: "SOURCE@TIME"
            ),
            parse: { text in
                guard let parts = SourceAtPlace.parts(of: text).first else { return nil }
                let source = String(parts.source)
                if let seam = TrackSeam(timeText: parts.place) {
                    return SourceAtTime(source: source, time: seam.range.start, seam: seam)
                }
                return ClockTime.parse(parts.place).map { SourceAtTime(source: source, time: $0) }
            },
            format: { SourceAtPlace.text($0.source, $0.placeText) },
            invalidPart: { text in
                guard let parts = SourceAtPlace.parts(of: text).first, !parts.place.isEmpty else { return nil }
                return InvalidEditPart(
                    name: "the time",
                    value: String(parts.place),
                    expected: EditValueType<MediaTime>.time.parameter?.form
                )
            },
            source: \.source,
            replacingSource: { SourceAtTime(source: $1, time: $0.time, seam: $0.seam) }
        )
    }
}
