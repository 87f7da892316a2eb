import MediaTiming
public import ResourceAddressing

/// A multivariant or media playlist.
///
/// The original bytes are stored, and all properties are read from them. A playlist that was not edited is therefore
/// written byte for byte as it was parsed, even if it is invalid.
public enum Playlist: Sendable {
    /// A multivariant playlist, which lists variants and renditions (RFC 8216bis §4.4.6).
    case multivariant(MultivariantPlaylist)
    /// A media playlist, which lists media segments (RFC 8216bis §4.4.3).
    case media(MediaPlaylist)

    /// The kind of a playlist.
    public enum Kind: String, Sendable, Hashable {
        /// A multivariant playlist.
        case multivariant
        /// A media playlist.
        case media
    }

    /// Parses a playlist of either kind as leniently as a player.
    ///
    /// The first tag that only one kind may contain determines the kind. Mistakes do not stop the parser;
    /// ``diagnostics`` lists them.
    ///
    /// - Parameters:
    ///   - bytes: The playlist in UTF-8; invalid sequences are preserved and read as U+FFFD.
    ///   - context: The origin of the playlist, for resolving URIs and variables.
    ///   - limits: The maximum sizes of the playlist and its parts.
    /// - Returns: The playlist, with all of its bytes.
    /// - Throws: ``PlaylistParsingError`` if the bytes are not a playlist or exceed a limit.
    /// - Complexity: O(*n*) in bytes; one pass.
    public static func parse(
        _ bytes: [UInt8],
        context: PlaylistContext = PlaylistContext(),
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistParsingError) -> Playlist {
        try playlist(bytes, index(of: bytes, limits: limits, isCancelable: false), context)
    }

    /// Parses a playlist of either kind, unless the task that waits for it is canceled.
    ///
    /// Parsing ends within 4,096 lines when the task is canceled; see `CancelableWork`. A playlist whose lines were all
    /// read before that is parsed nevertheless.
    ///
    /// - Parameters:
    ///   - bytes: The playlist in UTF-8.
    ///   - context: The origin of the playlist, for resolving URIs and variables.
    ///   - limits: The maximum sizes of the playlist and its parts.
    /// - Returns: The playlist, or the error of ``parse(_:context:limits:)``.
    /// - Throws: `CancellationError`.
    package static func parseUnlessCanceled(
        _ bytes: [UInt8],
        context: PlaylistContext = PlaylistContext(),
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(CancellationError) -> Result<Playlist, PlaylistParsingError> {
        let index: PlaylistIndex
        do throws(PlaylistParsingError) {
            index = try self.index(of: bytes, limits: limits, isCancelable: true)
        } catch {
            return .failure(error)
        }
        guard !index.wasCanceled else { throw CancellationError() }
        do throws(PlaylistParsingError) {
            return .success(try playlist(bytes, index, context))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the index of a playlist, or throws the error for the content that is in its place.
    private static func index(
        of bytes: [UInt8],
        limits: PlaylistLimits,
        isCancelable: Bool
    ) throws(PlaylistParsingError) -> PlaylistIndex {
        do throws(PlaylistParsingError) {
            return try PlaylistIndex(bytes, limits: limits, isCancelable: isCancelable)
        } catch {
            // Media files also exceed the limits; the error that names the actual content is more useful.
            if let content = UnexpectedContent(bytes) { throw .notAPlaylist(content: content) }
            throw error
        }
    }

    /// Returns the playlist with an index of all of its lines.
    private static func playlist(
        _ bytes: [UInt8],
        _ index: PlaylistIndex,
        _ context: PlaylistContext
    ) throws(PlaylistParsingError) -> Playlist {
        guard index.hasHeader || index.kind != nil else { throw .notAPlaylist(content: UnexpectedContent(bytes)) }
        return switch index.kind {
        case .multivariant: .multivariant(MultivariantPlaylist(bytes: bytes, index: index, context: context))
        case .media, nil: .media(MediaPlaylist(bytes: bytes, index: index, context: context))
        }
    }

    /// The kind of the playlist.
    public var kind: Kind {
        switch self {
        case .multivariant: .multivariant
        case .media: .media
        }
    }

    /// The bytes of the playlist, equal to the parsed bytes unless the playlist was edited.
    public var bytes: [UInt8] {
        switch self {
        case .multivariant(let playlist): playlist.bytes
        case .media(let playlist): playlist.bytes
        }
    }

    /// The names of the variables that the playlist imports from the multivariant playlist (RFC 8216bis §4.4.2.3).
    package var importedVariableNames: Set<String> {
        let tags =
            switch self {
            case .multivariant(let playlist): playlist.index.tags
            case .media(let playlist): playlist.index.tags
            }
        var names: Set<String> = []
        for record in tags where record.tag == .define {
            guard let value = bytes.tagLine(at: Int(record.lineStart))?.value else { continue }
            let attributes = AttributeList(bytes, in: value)
            if attributes["NAME"] == nil, let name = attributes["IMPORT"] { names.insert(name) }
        }
        return names
    }

    /// The number of tags and of segments or variants that the parser found.
    package var entryCount: Int {
        switch self {
        case .multivariant(let playlist): playlist.index.tags.count + playlist.index.variants.count
        case .media(let playlist): playlist.index.tags.count + playlist.index.segments.count
        }
    }

    /// The origin of the playlist.
    public var context: PlaylistContext {
        switch self {
        case .multivariant(let playlist): playlist.context
        case .media(let playlist): playlist.context
        }
    }
}

/// The origin of a playlist: its URL, which is the base URL of its references, and the variables that it can import.
public struct PlaylistContext: Sendable {
    /// The URL from which the playlist was loaded, after all redirects, or `nil` if it is not known.
    public var address: ResourceAddress? { didSet { base = Self.base(of: address) } }
    /// The URL without its query and fragment, which relative references do not inherit.
    private var base: ResourceAddress?
    /// The variables of the multivariant playlist, for `EXT-X-DEFINE:IMPORT` (RFC 8216bis §4.4.2.3).
    public var importableVariables: [String: String]
    /// A Boolean value that indicates whether the playlist has segments of others, which an edit has inserted.
    package var isStitched = false
    /// A Boolean value that indicates whether the playlist may name local files although its URL is remote, because the documents that
    /// it is made of were verified with `Playlist.refusedFile`.
    package var mayNameFiles = false
    /// A Boolean value that indicates whether ``importableVariables`` has all variables that can be imported.
    ///
    /// If it is `true`, ``Playlist/diagnostics`` report the import of any other variable, even if
    /// ``importableVariables`` is empty. Otherwise an empty ``importableVariables`` means that the variables are
    /// unknown.
    package var declaresAllImports = false

    /// Creates a context.
    public init(address: ResourceAddress? = nil, importableVariables: [String: String] = [:]) {
        self.address = address
        self.importableVariables = importableVariables
        base = Self.base(of: address)
    }

    /// Creates the context of a playlist of a library, which was verified when it was stored, and may name the local files of an edit.
    package init(stored address: ResourceAddress) {
        self.init(address: address)
        mayNameFiles = true
    }

    private static func base(of address: ResourceAddress?) -> ResourceAddress? {
        address.map { address in
            let end = address.text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            return end.map { ResourceAddress(String(address.text[..<$0])) } ?? address
        }
    }

    /// Returns the address for a URI in the playlist, which is absolute if the URL of the playlist is known.
    ///
    /// - Complexity: O(*n*) in the reference and the path of the base URL. The query of the base URL is removed once,
    ///   in advance, so that a long one costs nothing for each reference.
    func resolve(_ uri: String) -> ResourceAddress {
        // A reference without a path refers to the document itself, including its query (RFC 3986 §5.2.2).
        let isDocument = uri.isEmpty || uri.utf8.first == UInt8(ascii: "#")
        guard let address = (isDocument ? address : base)?.resolving(uri) else { return ResourceAddress(uri) }
        return mayNameFiles && address.isRefusedFile ? ResourceAddress(uri) : address
    }

    /// Returns the local file that a URI names, although the playlist is remote; `nil` for any other URI.
    ///
    /// In contrast to ``resolve(_:)``, the result does not depend on ``mayNameFiles``.
    func refusedFile(_ uri: String) -> ResourceAddress? {
        guard let address = base?.resolving(uri), address.isRefusedFile else { return nil }
        return address
    }
}
