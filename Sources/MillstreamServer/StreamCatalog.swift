public import Foundation
public import HLSPlaylist
import MediaTiming
public import MediaTransport
public import PlaylistEditing
import PresentationLoading
public import ResourceAddressing

/// The catalog of streams that the server offers.
public struct StreamCatalog: Sendable {
    /// A stream of the catalog.
    public struct Stream: Sendable, Hashable, Identifiable {
        /// The identifier of the stream in addresses.
        public let id: String
        /// The display name.
        public let name: String
        /// The address of the playlist, manifest or file; for a channel that of its first source.
        public let address: ResourceAddress
        /// The edits with which the stream is played; for a channel those that join its sources and simulate it.
        public let edits: EditPlan
        /// The address of a poster image; `nil` if there is none.
        public let poster: ResourceAddress?
        /// A short description; `nil` if there is none.
        public let detail: String?
        /// A Boolean value that indicates whether the stream is meant to be inserted into others.
        public let isAdvertisement: Bool
        /// The authorization of addresses with a user name and password, which are removed from them, and the header
        /// fields from `headers`, for the origin of ``address``, and from `headersFor`, for the hosts that
        /// it names.
        public let headers: [ScopedHeaderField]
        /// The URLs at which the same stream is available if ``address`` fails, in order of preference.
        public let alternates: [ResourceAddress]
        /// The source of the tokens for the origins of the stream; `nil` if it needs none.
        public let tokens: TokenOrigin?

        /// A source of tokens.
        public enum TokenOrigin: Sendable, Hashable {
            /// The URL of a server; see `ServerTokenSource`.
            case server(ResourceAddress)
            /// A program with its first arguments; see `ProgramTokenSource`.
            case program([String])
        }

        /// The kinds of streams.
        public enum Kind: String, Sendable {
            /// An HLS playlist.
            case hls
            /// A DASH manifest.
            case dash
            /// A media file that is played directly.
            case file
        }

        /// The probable kind of the stream, a guess from the extension of its path, because streams are not loaded to list them.
        public var kind: Kind {
            if address.path.lowercased().hasSuffix(".mpd") { return .dash }
            return Self.isMediaFile(address) ? .file : .hls
        }

        /// The extensions of media files that browsers play.
        private static let mediaFileExtensions = [
            ".mp4", ".m4v", ".mov", ".m4a", ".mp3", ".webm", ".ogg", ".flac", ".wav",
        ]

        /// Returns whether the extension of a path is that of a media file.
        static func isMediaFile(_ address: ResourceAddress) -> Bool {
            let path = address.path.lowercased()
            return mediaFileExtensions.contains { path.hasSuffix($0) }
        }

        /// The addresses of all playlists and manifests of the stream.
        public var sources: [ResourceAddress] { [address] + alternates + edits.sources.map { ResourceAddress($0) } }

        /// A Boolean value that indicates whether the stream is a simulated live channel.
        public var isChannel: Bool { edits.dependsOnDate }
    }

    /// The streams, in the order of the file.
    public let streams: [Stream]

    /// Creates a catalog.
    public init(_ streams: [Stream]) {
        self.streams = streams
    }

    /// An error that explains why a catalog could not be read.
    public struct ReadingError: MillstreamError {
        /// The kind of the error.
        public enum Code: String, ErrorCode {
            /// The file is not a catalog of streams.
            case invalid = "bad-catalog"
        }

        /// The kind of the error.
        public var code: Code { .invalid }
        /// The description of the error.
        public var message: String { description }
        /// The description of the failure, for people.
        public let description: String
    }

    /// A stream as files describe it; the key of the address is `playlist_url` in Apple's sample, and `url` in other
    /// files.
    private struct Entry: Decodable {
        let id: String?
        let name: String
        let url: String?
        let channel: [String]?
        let loop: Bool?
        let start: String?
        let window: Decimal?
        let part: Decimal?
        let edits: EditPlan?
        let playlistURL: String?
        let poster: String?
        let detail: String?
        let advertisement: Bool?
        let headers: [String: String]?
        let headersFor: [String: [String: String]]?
        let alternates: [String]?
        let tokenURL: String?
        let tokenProgram: [String]?

        enum CodingKeys: String, CodingKey {
            case id, name, url, channel, loop, start, window, part, edits, poster, detail, advertisement, headers,
                headersFor
            case alternates, tokenURL, tokenProgram
            case playlistURL = "playlist_url"
        }
    }

    private struct PropertyList: Decodable {
        let streams: [Entry]

        enum CodingKeys: String, CodingKey {
            case streams = "Streams"
        }
    }

    /// Creates a catalog from `Streams.plist` in the form of Apple's sample, or from JSON `[{"name", "url", …}]`.
    ///
    /// A stream with `channel`, a list of URLs, instead of `url` is a simulated live channel of these presentations. It
    /// starts again at its end if `loop` is true; `start` is the date of its first segment, and `window` the duration in
    /// seconds for which segments remain in its playlist. `part` is the duration in seconds of partial segments. A channel without a loop and a date starts half a minute before
    /// `date`, so that clients can join it at once. `edits` are the edits with which a stream is played.
    ///
    /// - Parameters:
    ///   - data: The contents of the file.
    ///   - address: The address of the file, to which relative addresses in it are resolved.
    ///   - date: The date at which channels without a start begin; `nil` for the current date.
    /// - Throws: ``ReadingError``.
    public init(_ data: Data, at address: ResourceAddress, date: ProgramDateTime? = nil) throws {
        // An array; an object is an error of JSON, not of a property list.
        let first = data.first { !" \t\r\n".utf8.contains($0) }
        let isJSON = first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
        let entries: [Entry]
        do {
            entries =
                try isJSON
                ? JSONDecoder().decode([Entry].self, from: data)
                : PropertyListDecoder().decode(PropertyList.self, from: data).streams
        } catch {
            let content = UnexpectedContent([UInt8](data)).map { "; it is \($0.rawValue)" } ?? ""
            let form = isJSON ? "not a list of streams in JSON" : "neither a Streams.plist nor JSON"
            let reason = isJSON ? Self.syntaxError(in: data) ?? Self.reason(error) : Self.reason(error)
            throw ReadingError(
                description:
                    "the catalog \(address) is \(form)\(content.isEmpty ? " (\(reason))" : content)"
            )
        }
        var used: Set<String> = []
        streams = try entries.enumerated().map { number, entry in
            let sources = try Self.sources(of: entry, at: address)
            let stream = sources[0]
            let poster = entry.poster.map { address.resolving($0) }
            let alternates = try Self.alternates(of: entry, at: address)
            var id = Self.identifier(entry.id ?? entry.name)
            if id.isEmpty || used.contains(id) { id += "-\(number)" }
            used.insert(id)
            return Stream(
                id: id,
                name: entry.name,
                address: stream.withoutUserInformation,
                edits: try Self.edits(of: entry, sources, date ?? .current),
                poster: poster?.withoutUserInformation,
                detail: entry.detail,
                isAdvertisement: entry.advertisement ?? false,
                headers: (sources + alternates + [poster]).compactMap {
                    $0.flatMap { ScopedHeaderField(userInformationOf: $0) }
                } + (try Self.headers(of: entry, at: sources + alternates)),
                alternates: alternates.map(\.withoutUserInformation),
                tokens: try Self.tokens(of: entry, at: address)
            )
        }
        try Self.checkConflicts(streams)
    }

    /// Returns the URLs of an entry, at least one.
    private static func sources(of entry: Entry, at address: ResourceAddress) throws -> [ResourceAddress] {
        let url = entry.playlistURL ?? entry.url
        guard url == nil || entry.channel == nil else {
            throw ReadingError(
                description: "the stream \"\(entry.name)\" in the catalog \(address) has both url and channel"
            )
        }
        let urls = entry.channel ?? url.map { [$0] } ?? []
        guard !urls.isEmpty, !urls.contains("") else {
            throw ReadingError(description: "the stream \"\(entry.name)\" in the catalog \(address) has no url")
        }
        return try urls.map { url in
            let stream = address.resolving(url)
            guard stream.isHTTP else {
                throw ReadingError(
                    description:
                        "the stream \"\(entry.name)\" in the catalog has the URL \(stream.withoutRefusal), which is not an http URL; "
                        + "relative URLs require a catalog that is loaded over http"
                )
            }
            return stream
        }
    }

    /// Returns the URLs at which the stream of an entry is available too.
    private static func alternates(of entry: Entry, at address: ResourceAddress) throws -> [ResourceAddress] {
        let alternates = (entry.alternates ?? []).map { address.resolving($0) }
        guard alternates.allSatisfy(\.isHTTP), entry.channel == nil || alternates.isEmpty else {
            throw ReadingError(
                description:
                    "the stream \"\(entry.name)\" in the catalog \(address) has alternates that are not http URLs, "
                    + "or is a channel"
            )
        }
        return alternates
    }

    /// Returns the source of the tokens of an entry.
    private static func tokens(of entry: Entry, at address: ResourceAddress) throws -> Stream.TokenOrigin? {
        if let program = entry.tokenProgram {
            // A catalog from elsewhere must not start programs.
            guard !address.isHTTP, entry.tokenURL == nil, program.first?.isEmpty == false else {
                throw ReadingError(
                    description:
                        "the stream \"\(entry.name)\" in the catalog \(address) has a tokenProgram, which requires a "
                        + "catalog in a file, a program, and no tokenURL"
                )
            }
            return .program(program)
        }
        guard let url = entry.tokenURL.map({ address.resolving($0) }) else { return nil }
        guard url.isHTTP else {
            throw ReadingError(
                description:
                    "the stream \"\(entry.name)\" in the catalog \(address) has a tokenURL that is not an http URL"
            )
        }
        return .server(url)
    }

    /// The time before the date of a catalog at which a channel without a start begins.
    private static let joinableDuration = MediaTime(seconds: 30)

    /// Returns the edits of an entry: those that it lists, and for a channel those that join and simulate it.
    private static func edits(
        of entry: Entry,
        _ sources: [ResourceAddress],
        _ date: ProgramDateTime
    ) throws -> EditPlan {
        let own = entry.edits?.edits ?? []
        guard entry.channel != nil else {
            guard entry.loop == nil, entry.start == nil, entry.window == nil, entry.part == nil else {
                throw ReadingError(
                    description:
                        "the stream \"\(entry.name)\" in the catalog has loop, start, window or part without channel"
                )
            }
            return EditPlan(own)
        }
        var fields = [entry.loop ?? false ? "loop" : "once"]
        if let start = entry.start {
            fields.append("start=\(start)")
        } else if !(entry.loop ?? false) {
            let start = ProgramDateTime(sinceEpoch: date.sinceEpoch - joinableDuration)
            fields.append("start=\(start)")
        }
        if let window = entry.window { fields.append("window=\(window)") }
        if let part = entry.part { fields.append("part=\(part)") }
        let text = fields.joined(separator: ",")
        guard let channel = SimulatedChannel(text) else {
            throw ReadingError(
                description:
                    "the channel \"\(entry.name)\" in the catalog has an invalid start, window or part (\(text)); "
                    + "start must be a date such as 2026-01-01T12:00:00Z, window 1 to 86400 seconds, part 0.1 to 10 seconds"
            )
        }
        let joined = sources.dropFirst().map { PlaylistEdit.append($0.withoutUserInformation.text) }
        let plan = EditPlan(joined + own + [.live(channel)])
        do {
            try EditLimits().verify(plan)
        } catch {
            throw ReadingError(description: "the channel \"\(entry.name)\" in the catalog cannot be played: \(error)")
        }
        return plan
    }

    /// The header fields that a catalog must not set, since the connection depends on them or they change the request.
    private static let reservedFields: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "if-range", "keep-alive",
        "proxy-authorization",
        "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    private static func headers(of entry: Entry, at sources: [ResourceAddress]) throws -> [ScopedHeaderField] {
        func field(_ name: String, _ value: String) throws -> HeaderField {
            guard let field = HeaderField(line: "\(name): \(value)"), field.name == name,
                !reservedFields.contains(name.lowercased())
            else {
                throw ReadingError(
                    description: "the stream \"\(entry.name)\" in the catalog has the header field \"\(name)\", "
                        + "which cannot be sent"
                )
            }
            return field
        }
        let own = try (entry.headers ?? [:]).sorted { $0.key < $1.key }.map { try field($0.key, $0.value) }
        let others = try (entry.headersFor ?? [:]).sorted { $0.key < $1.key }.flatMap { host, fields in
            guard let scope = HeaderFieldScope(host) else {
                throw ReadingError(
                    description: "the stream \"\(entry.name)\" in the catalog has headersFor \"\(host)\", "
                        + "which is not HOST, HOST:PORT, an origin, or *"
                )
            }
            return try fields.sorted { $0.key < $1.key }.map {
                ScopedHeaderField(try field($0.key, $0.value), for: scope)
            }
        }
        return others + [ScopedHeaderField](own, forOriginsOf: sources)
    }

    /// Checks that no header field has two values for one host, since requests do not reveal to which stream they
    /// belong.
    private static func checkConflicts(_ streams: [Stream]) throws {
        struct Key: Hashable {
            let scope: HeaderFieldScope
            let name: String
        }
        var values: [Key: String] = [:]
        for header in streams.flatMap(\.headers) {
            let key = Key(scope: header.scope, name: header.field.name.lowercased())
            guard values.updateValue(header.field.value, forKey: key).map({ $0 == header.field.value }) ?? true else {
                throw ReadingError(
                    description:
                        "the streams in the catalog have two values of the header field \(header.field.name) "
                        + "for \(header.scope)"
                )
            }
        }
    }

    /// Returns the description of the first syntax error of JSON, with its position; `nil` if there is none.
    private static func syntaxError(in data: Data) -> String? {
        do {
            _ = try JSONSerialization.jsonObject(with: data)
            return nil
        } catch {
            return (error as? CocoaError)?.userInfo[NSDebugDescriptionErrorKey] as? String
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "\(key.stringValue) is missing at \(context.codingPath.map(\.stringValue).joined(separator: "."))"
        case DecodingError.typeMismatch(let type, let context), DecodingError.valueNotFound(let type, let context):
            "\(position(context)) must be \(name(of: type) ?? "something else")"
        case DecodingError.dataCorrupted(let context): context.debugDescription
        default: "\(error)"
        }
    }

    private static func position(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? "the document" : path
    }

    /// Returns the name of a type of JSON values with its article; `nil` for types that a catalog does not have.
    private static func name(of type: Any.Type) -> String? {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any Numeric.Type: "a number"
        case is [Any].Type, is [Entry].Type, is [String].Type: "an array"
        case is [String: Any].Type, is [String: String].Type: "an object"
        default: nil
        }
    }

    /// Returns the ASCII letters and digits of a name in lowercase, with a hyphen for each other sequence of
    /// characters.
    private static func identifier(_ text: String) -> String {
        var result = ""
        for scalar in text.lowercased().unicodeScalars {
            if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                result.unicodeScalars.append(scalar)
            } else if !result.isEmpty, !result.hasSuffix("-") {
                result += "-"
            }
        }
        return result.hasSuffix("-") ? String(result.dropLast()) : result
    }
}
