public import HLSPlaylist
public import MediaTiming
public import ResourceAddressing

/// An error that prevents an edit; the playlist is unchanged.
public enum PlaylistEditError: MillstreamError, Hashable {
    /// The edit would remove everything; `available` describes what the playlist contains.
    case nothingLeft(filter: String, available: [String])
    /// No edit has this name.
    case unknownEdit(String)
    /// The value of an edit is invalid; `expected` describes valid values.
    case invalidValue(edit: String, value: String, expected: String)
    /// The edit does not apply to this kind of playlist.
    case wrongKind(edit: String, expected: String)
    /// A time is outside the playlist.
    case timeOutside(edit: String, time: String, duration: String)
    /// The playlists cannot be combined in one timeline.
    case cannotStitch(reason: String)
    /// Segments without `EXT-X-MAP` would follow segments with one; the addresses are those of their playlists, if they are known, or
    /// of the segments, if an earlier edit has inserted them.
    case mapCannotEnd(at: ResourceAddress?, after: ResourceAddress?)
    /// A simulated channel has no segments yet.
    case notStarted(start: ProgramDateTime)
    /// A simulated channel publishes the media for which a client waits at a later date.
    case notPublished(until: ProgramDateTime)
    /// The result would exceed a limit.
    case tooLarge(PlaylistLimits.Limit)
    /// There are more edits than the limits permit.
    case tooManyEdits(maximum: Int)
    /// The edits insert more playlists than the limits permit.
    case tooManySources(maximum: Int)
    /// The playlists that are loaded for an edit are larger together than the given limit.
    case loadsTooMuch(ByteCount)
    /// A URI is empty or would be read as a comment, so a playlist cannot contain it.
    case unwritableAddress(String)
    /// A tag refers to a variable whose value no quoted string can contain, such as one with a quotation mark.
    case unwritableVariable(name: String, tag: String)
    /// The result of an edit cannot be parsed as a playlist of the same kind.
    case unreadableResult(edit: String, reason: String)
    /// The edit of an application has failed with an error.
    case failed(edit: String, reason: String)
    /// The edit of an application cannot have this name.
    case invalidName(String)

    /// The maximum number of entries that a message lists.
    private static let maximumListedCount = 20

    /// Creates the error of a filter that would remove everything, with a list of at most 20 entries.
    static func nothingLeft(_ filter: String, among entries: [String]) -> PlaylistEditError {
        let more = entries.count -| maximumListedCount
        return .nothingLeft(
            filter: filter,
            available: Array(entries.prefix(maximumListedCount)) + (more > 0 ? ["\(more) more"] : [])
        )
    }

    /// Returns the error with the addresses of playlists in place of those of their segments.
    func naming(_ playlists: [MediaPlaylist]) -> PlaylistEditError {
        guard case .mapCannotEnd(let source, let former) = self else { return self }
        func playlist(_ address: ResourceAddress?) -> ResourceAddress? {
            guard let address else { return nil }
            let known = playlists.first { playlist in
                playlist.context.address == address || playlist.segments.contains { $0.address == address }
            }
            return known.map(\.context.address) ?? address
        }
        return .mapCannotEnd(at: playlist(source), after: playlist(former))
    }

    /// Creates the error for a result that cannot be parsed.
    init(_ error: PlaylistParsingError, edit: String) {
        switch error {
        case .limitExceeded(let limit, _): self = .tooLarge(limit)
        case .notAPlaylist, .unexpectedKind, .undeclaredImport, .missingQueryParameter:
            self = .unreadableResult(edit: edit, reason: error.description)
        }
    }
}

extension PlaylistEditError {
    /// The error as a message for display.
    public var description: String {
        switch self {
        case .nothingLeft(let filter, let available):
            "\(filter) would remove everything; the playlist has \(available.joined(separator: ", "))"
        case .unknownEdit(let name): "unknown edit \(name)"
        case .invalidValue(let edit, let value, let expected):
            "\(edit) must be \(expected), not \"\(ResourceAddress(value).isHTTP ? "\(ResourceAddress(value))" : value)\""
        case .wrongKind(let edit, let expected): "\(edit) requires a \(expected) playlist"
        case .timeOutside(let edit, let time, let duration):
            "\(edit): \(time) s is after the end of the playlist, at \(duration) s"
        case .cannotStitch(let reason): "the playlist cannot be edited: \(reason)"
        case .mapCannotEnd(let source, let former):
            """
            the playlist cannot be edited: \(source?.description ?? "a playlist") has segments without EXT-X-MAP \
            (such as MPEG-TS), which cannot follow those of \(former?.description ?? "a playlist") with EXT-X-MAP \
            (fragmented MP4), because no tag removes a map
            """
        case .notStarted(let start): "the channel starts at \(start), and its first segment is not finished"
        case .notPublished(let date): "the channel publishes the requested media at \(date)"
        case .tooLarge(let limit): "the edited playlist would be too large: \(limit)"
        case .tooManyEdits(let maximum): "at most \(maximum) edits can be applied"
        case .tooManySources(let maximum): "edits can insert at most \(maximum) playlists"
        case .loadsTooMuch(let limit): "the playlists are larger than \(limit) together"
        case .unwritableAddress(let address): "a playlist cannot contain the URI \"\(address)\""
        case .unwritableVariable(let name, let tag):
            "the value of the variable \"\(name)\" cannot be written in \(tag), because no quoted string can contain it"
        case .unreadableResult(let edit, let reason): "the result of \(edit) would be \(reason)"
        case .failed(let edit, let reason): "\(edit) has failed: \(reason)"
        case .invalidName(let name):
            "an edit cannot be named \"\(name)\": a name has lowercase letters, digits and hyphens, and is not used yet"
        }
    }

    /// The kind of the error.
    public enum Code: String, ErrorCode {
        /// The edit would remove everything.
        case nothingLeft = "nothing-left"
        /// No edit has this name.
        case unknownEdit = "unknown-edit"
        /// The value of an edit is invalid.
        case invalidValue = "invalid-value"
        /// The edit does not apply to this kind of playlist.
        case wrongKind = "wrong-kind"
        /// A time is outside the playlist.
        case timeOutside = "time-outside"
        /// The playlists cannot be combined in one timeline.
        case cannotStitch = "cannot-stitch"
        /// A simulated channel has no segments yet.
        case notStarted = "channel-not-started"
        /// A simulated channel has not published the requested media yet.
        case notPublished = "channel-not-published"
        /// A source or the result would exceed a limit.
        case tooLarge = "playlist-too-large"
        /// There are more edits than permitted.
        case tooManyEdits = "too-many-edits"
        /// The edits refer to more playlists than permitted.
        case tooManySources = "too-many-sources"
        /// A URI cannot be written in a playlist.
        case unwritableAddress = "unwritable-address"
        /// The value of a variable cannot be written in a playlist.
        case unwritableVariable = "unwritable-variable"
        /// The result of an edit cannot be parsed.
        case unreadableResult = "unreadable-result"
        /// The edit of an application has failed.
        case failed = "edit-failed"
        /// The edit of an application cannot have its name.
        case invalidName = "invalid-edit-name"
    }

    /// The kind of the error.
    public var code: Code {
        switch self {
        case .nothingLeft: .nothingLeft
        case .unknownEdit: .unknownEdit
        case .invalidValue: .invalidValue
        case .wrongKind: .wrongKind
        case .timeOutside: .timeOutside
        case .cannotStitch, .mapCannotEnd: .cannotStitch
        case .notStarted: .notStarted
        case .notPublished: .notPublished
        case .tooLarge, .loadsTooMuch: .tooLarge
        case .tooManyEdits: .tooManyEdits
        case .tooManySources: .tooManySources
        case .unwritableAddress: .unwritableAddress
        case .unwritableVariable: .unwritableVariable
        case .unreadableResult: .unreadableResult
        case .failed: .failed
        case .invalidName: .invalidName
        }
    }

    /// The description of the error.
    public var message: String { description }

    /// A suggestion for the user; `nil` if there is none.
    package var hint: String? {
        guard case .mapCannotEnd = self else { return nil }
        return "choose sources whose segments have the same format, or let those without EXT-X-MAP come first"
    }
}
