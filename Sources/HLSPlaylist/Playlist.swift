import MediaTiming
public import ResourceAddressing

/// A playlist of either kind.
///
/// A playlist is its bytes: they are kept as they came, and everything typed is read from them. So what is written
/// without an edit is what was parsed, byte for byte, whatever that was.
public enum Playlist: Sendable {
    /// A list of variants and renditions (RFC 8216bis §4.4.6).
    case multivariant(MultivariantPlaylist)
    /// A list of media segments (RFC 8216bis §4.4.3).
    case media(MediaPlaylist)

    /// Which of the two kinds a playlist is.
    public enum Kind: String, Sendable, Hashable {
        /// A list of variants and renditions.
        case multivariant
        /// A list of media segments.
        case media
    }

    /// Parses a playlist of either kind as a lenient player would.
    ///
    /// The first tag that only one kind may have decides which it is. Mistakes do not stop the parse, they are listed in
    /// ``diagnostics``.
    ///
    /// - Parameters:
    ///   - bytes: The playlist, UTF-8; other bytes are kept and read as U+FFFD.
    ///   - context: Where it came from, for addresses and variables.
    ///   - limits: How large it may be.
    /// - Returns: The playlist, with every byte of it.
    /// - Throws: ``PlaylistParsingError`` where nothing can be made of the bytes.
    /// - Complexity: O(*n*) in bytes; one pass.
    public static func parse(
        _ bytes: [UInt8],
        context: PlaylistContext = PlaylistContext(),
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistParsingError) -> Playlist {
        let index: PlaylistIndex
        do {
            index = try PlaylistIndex(bytes, limits: limits)
        } catch {
            // A film passes the limits too; that it is one says more.
            if let content = ForeignContent(bytes) { throw .notAPlaylist(content: content) }
            throw error
        }
        guard index.hasHeader || index.kind != nil else { throw .notAPlaylist(content: ForeignContent(bytes)) }
        return switch index.kind {
        case .multivariant: .multivariant(MultivariantPlaylist(bytes: bytes, index: index, context: context))
        case .media, nil: .media(MediaPlaylist(bytes: bytes, index: index, context: context))
        }
    }

    /// Which kind it is.
    public var kind: Kind {
        switch self {
        case .multivariant: .multivariant
        case .media: .media
        }
    }

    /// The bytes of the playlist, equal to those parsed where nothing was edited.
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

    /// The number of tags, segments and variants that a parse found.
    package var entryCount: Int {
        switch self {
        case .multivariant(let playlist): playlist.index.tags.count + playlist.index.variants.count
        case .media(let playlist): playlist.index.tags.count + playlist.index.segments.count
        }
    }

    /// Where the playlist came from.
    public var context: PlaylistContext {
        switch self {
        case .multivariant(let playlist): playlist.context
        case .media(let playlist): playlist.context
        }
    }
}

/// Where a playlist came from: what its relative addresses and its variables stand on.
public struct PlaylistContext: Sendable {
    /// The address it was loaded from, behind all redirects; `nil` where that is not known.
    public var address: ResourceAddress? { didSet { base = Self.base(of: address) } }
    /// The address without its query and fragment, which relative references do not take over.
    private var base: ResourceAddress?
    /// The variables of the multivariant playlist, for `EXT-X-DEFINE:IMPORT` (RFC 8216bis §4.4.2.3).
    public var importableVariables: [String: String]

    /// Makes a context.
    public init(address: ResourceAddress? = nil, importableVariables: [String: String] = [:]) {
        self.address = address
        self.importableVariables = importableVariables
        base = Self.base(of: address)
    }

    private static func base(of address: ResourceAddress?) -> ResourceAddress? {
        address.map { address in
            let end = address.text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            return end.map { ResourceAddress(String(address.text[..<$0])) } ?? address
        }
    }

    /// What an address in the playlist means: absolute where the playlist's own address is known.
    ///
    /// - Complexity: O(*n*) in the reference and the path of the playlist's address. A long query, which every reference
    ///   would have to pass over, is left out once.
    func resolve(_ uri: String) -> ResourceAddress {
        // A reference without a path means the document itself, with its query (RFC 3986 §5.2.2).
        let isDocument = uri.isEmpty || uri.utf8.first == UInt8(ascii: "#")
        return (isDocument ? address : base)?.resolving(uri) ?? ResourceAddress(uri)
    }
}
