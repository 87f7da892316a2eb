package import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// A fault that a server simulates in its responses, to test players.
///
/// A fault is written as a query, such as `path=*.ts&requests=2...4&status=503`: the requests that it concerns, and one or
/// more effects. ``parameters`` lists them.
public struct ResponseFault: Sendable, Hashable {
    /// The end of a response before its last byte.
    package enum Ending: Sendable, Hashable {
        /// The connection is closed.
        case close
        /// The connection stays open, but no more bytes are sent.
        case stall
        /// The connection is reset.
        case reset
    }

    /// A response that replaces the correct one.
    package enum Replacement: Sendable, Hashable {
        /// An error with this status.
        case status(Int)
        /// An HTML page with status 200, as a captive portal sends it.
        case page
        /// This text with status 200.
        case text(String)
    }

    /// The fault as it was written.
    public private(set) var text = ""
    /// The pattern of the paths of the requests, in which `*` stands for any characters.
    package internal(set) var path = "*"
    /// The numbers of the requests of a path, from 1; `nil` for all.
    var requests: PartialRange<Int>?
    /// The media sequence numbers of the segments that are requested; `nil` for requests of anything.
    var sequence: PartialRange<Int>?
    /// The period of the requests; at any time by default.
    var period = FaultPeriod()
    /// The response that replaces the correct one; `nil` if the response is not replaced.
    package internal(set) var replacement: Replacement?
    /// A Boolean value that indicates whether no response is sent.
    package internal(set) var isTimeout = false
    /// The delay before the head of the response.
    package internal(set) var delay = Duration.zero
    /// The position from which on the bytes of the body are replaced with zeros; `nil` for no damage.
    package internal(set) var damageStart: Int64?
    /// The rate of the body, or `nil` for the full rate.
    package internal(set) var rate: BitRate?
    /// The number of bytes of the body after which the response ends, and how it ends.
    package internal(set) var end: (bytes: Int64, ending: Ending)? {
        get { endBytes.map { ($0, ending) } }
        set { (endBytes, ending) = (newValue?.bytes, newValue?.ending ?? .close) }
    }
    private var endBytes: Int64?
    private var ending = Ending.close

    /// A parameter of a fault.
    public struct Parameter: Sendable {
        /// The name of the parameter.
        public let name: String
        /// The placeholder of its value in usage texts, or `nil` for a parameter without a value.
        public let placeholder: String?
        /// The meaning of the parameter, as a phrase.
        public let summary: String
        /// A Boolean value that indicates whether the parameter changes the response, rather than selecting requests.
        let isEffect: Bool
        /// Sets the value, and returns whether it is valid.
        let set: @Sendable (String, inout ResponseFault) -> Bool
    }

    /// The maximum delay, and the duration of a stalled or missing response after which its connection is closed, in
    /// seconds.
    package static let maximumDelay: Int64 = 300
    /// The maximum length of a fault as text, in bytes.
    package static let maximumLength = 4_096
    /// The maximum length of the pattern of paths, in bytes.
    package static let maximumPatternLength = 1_024

    /// The parameters of faults.
    public static let parameters: [Parameter] = [
        Parameter(
            name: "path",
            placeholder: "PATTERN",
            summary: "the paths of the requests; * stands for any text",
            isEffect: false
        ) {
            $1.path = $0
            return !$0.isEmpty && $0.utf8.count <= maximumPatternLength
        },
        Parameter(
            name: "requests",
            placeholder: "N...M",
            summary: "the numbers of the requests of each path, from 1",
            isEffect: false
        ) {
            $1.requests = numbers($0, from: 1)
            return $1.requests != nil
        },
        Parameter(
            name: "sequence",
            placeholder: "N...M",
            summary: "the media sequence numbers of segments, in the last playlist that the server sent with them",
            isEffect: false
        ) {
            $1.sequence = numbers($0, from: 0)
            return $1.sequence != nil
        },
        Parameter(
            name: "time",
            placeholder: "START...END",
            summary:
                "the period after the start of the server or the last change of its faults, at most \(FaultPeriod.maximumTime) s",
            isEffect: false
        ) {
            $1.period.setTimes($0)
        },
        Parameter(
            name: "interval",
            placeholder: "TIME",
            summary: "repeat the period at this interval, at most \(FaultPeriod.maximumTime) s",
            isEffect: false
        ) {
            $1.period.setInterval($0)
        },
        Parameter(name: "status", placeholder: "CODE", summary: "respond with this status, 400 to 599", isEffect: true)
        {
            guard let status = Int($0), (400...599).contains(status) else { return false }
            $1.replacement = .status(status)
            return true
        },
        Parameter(name: "page", placeholder: nil, summary: "respond with an HTML page", isEffect: true) {
            $1.replacement = .page
            return $0.isEmpty
        },
        Parameter(name: "body", placeholder: "TEXT", summary: "respond with this text", isEffect: true) {
            $1.replacement = .text($0)
            return true
        },
        Parameter(
            name: "corrupt",
            placeholder: "BYTES",
            summary: "replace the bytes of the body from this position on with zeros",
            isEffect: true
        ) {
            $1.damageStart = Int64($0)
            return $1.damageStart.map { $0 >= 0 } ?? false
        },
        Parameter(
            name: "delay",
            placeholder: "TIME",
            summary: "wait before the response, at most \(maximumDelay) s",
            isEffect: true
        ) {
            guard let time = MediaTime(decimal: $0), time > .zero, time <= MediaTime(seconds: maximumDelay) else {
                return false
            }
            $1.delay = .seconds(time.seconds)
            return true
        },
        Parameter(name: "rate", placeholder: "RATE", summary: "send the body at this bit rate", isEffect: true) {
            $1.rate = BitRate($0)
            return $1.rate.map { $0.bitsPerSecond >= 8 } ?? false
        },
        Parameter(
            name: "truncate",
            placeholder: "BYTES",
            summary: "close the connection after this number of bytes of the body",
            isEffect: true
        ) {
            $1.end = Int64($0).map { ($0, .close) }
            return Int64($0).map { $0 >= 0 } ?? false
        },
        Parameter(
            name: "stall",
            placeholder: "BYTES",
            summary: "send no more data after this number of bytes of the body",
            isEffect: true
        ) {
            $1.end = Int64($0).map { ($0, .stall) }
            return Int64($0).map { $0 >= 0 } ?? false
        },
        Parameter(
            name: "reset",
            placeholder: "BYTES",
            summary: "reset the connection after this number of bytes of the body",
            isEffect: true
        ) {
            $1.end = Int64($0).map { ($0, .reset) }
            return Int64($0).map { $0 >= 0 } ?? false
        },
        Parameter(
            name: "timeout",
            placeholder: nil,
            summary: "send no response, and close the connection after \(maximumDelay) s",
            isEffect: true
        ) {
            $1.isTimeout = true
            return $0.isEmpty
        },
    ]

    /// The form of a valid text, as the end of a sentence that begins “… must be”.
    public static var form: String {
        let names = parameters.map { $0.name + ($0.placeholder.map { "=" + $0 } ?? "") }
        return "a query of \(names.joined(separator: ", ")) with an effect, such as \(example)"
    }

    /// A valid fault, as an example.
    package static let example = "path=*.ts&requests=2...4&status=503"

    /// The reason for which a text is not a fault, as a phrase.
    package struct InvalidFault: Error, Hashable, CustomStringConvertible {
        /// The phrase, such as “there is no parameter wait”.
        package let description: String

        init(_ description: String) { self.description = description }

        /// The maximum number of characters of a fault and of the reason in a message.
        private static let maximumLength = 400

        /// Returns the message about a text that is not a fault, without its subject: the text, and what is wrong with it.
        package func sentence(about text: String) -> String {
            "\"\(text.prefix(Self.maximumLength))\" is not valid: \(description.prefix(Self.maximumLength))"
        }
    }

    /// Creates a fault from a query, such as `path=*.ts&delay=1.5`; `nil` if it has no effect, or if a parameter is unknown,
    /// repeated or invalid.
    public init?(_ text: String) {
        guard let fault = try? ResponseFault(parsing: text) else { return nil }
        self = fault
    }

    /// Creates a fault from a query, such as `path=*.ts&delay=1.5`.
    ///
    /// - Throws: ``InvalidFault`` if it has no effect, or if a parameter is unknown, repeated or invalid.
    package init(parsing text: String) throws(InvalidFault) {
        self.text = text
        let items = QueryItems(text).items
        guard text.utf8.count <= Self.maximumLength, items.count == text.utf8.split(separator: UInt8(ascii: "&")).count
        else {
            throw InvalidFault("it is not a query")
        }
        var names: Set<String> = []
        var hasEffect = false
        for item in items {
            guard let parameter = Self.parameters.first(where: { $0.name == item.name }) else {
                throw InvalidFault("there is no parameter \(item.name)")
            }
            guard names.insert(item.name).inserted else { throw InvalidFault("\(item.name) occurs twice") }
            guard parameter.set(item.value, &self) else {
                let form = parameter.placeholder.map { "=\($0)" } ?? ""
                throw InvalidFault(
                    "\(item.name) must be \(item.name)\(form) (\(parameter.summary)), not \(item.name)=\(item.value)"
                )
            }
            hasEffect = hasEffect || parameter.isEffect
        }
        guard hasEffect else { throw InvalidFault("it has no effect") }
        if let problem = period.problem { throw InvalidFault(problem) }
        // Of two effects that exclude each other, one would be ignored.
        for group in Self.exclusiveEffects {
            let present = group.filter(names.contains)
            guard present.count <= 1 else {
                throw InvalidFault("\(present.joined(separator: " and ")) exclude each other")
            }
        }
    }

    /// The effects of which a fault can have at most one.
    private static let exclusiveEffects = [
        ["status", "page", "body", "timeout"], ["truncate", "stall", "reset", "timeout"], ["corrupt", "timeout"],
        ["delay", "timeout"], ["rate", "timeout"],
    ]

    /// Returns the range in text such as `2`, `2...4`, `2...` or `...4`.
    private static func numbers(_ text: String, from minimum: Int) -> PartialRange<Int>? {
        func number(_ text: Substring) -> Int? { Int(text).flatMap { $0 >= minimum ? $0 : nil } }
        return number(text[...]).map { PartialRange(low: $0, high: $0) } ?? PartialRange(text, bound: number)
    }

    /// Returns a Boolean value that indicates whether the path of a request matches the pattern.
    ///
    /// - Complexity: O(*n* · *m*) in the lengths of the path and the pattern.
    package func concerns(_ path: String) -> Bool { Self.matches(Array(path.utf8), Array(self.path.utf8)) }

    /// Returns a Boolean value that indicates whether a text matches a pattern with wildcards.
    private static func matches(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        let star = UInt8(ascii: "*")
        var (position, next) = (0, 0)
        // The position after the last wildcard, and that of the text from which it is tried again.
        var (afterStar, restart): (Int?, Int) = (nil, 0)
        while position < text.count {
            if next < pattern.count, pattern[next] == star {
                next += 1
                (afterStar, restart) = (next, position)
            } else if next < pattern.count, pattern[next] == text[position] {
                position += 1
                next += 1
            } else if let afterStar {
                restart += 1
                (position, next) = (restart, afterStar)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == star }
    }
}
