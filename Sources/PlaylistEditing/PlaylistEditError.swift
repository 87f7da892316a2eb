import ResourceAddressing

/// Why an edit was refused; the playlist stays as it was.
public enum PlaylistEditError: Error, Sendable, Hashable {
    /// A filter would leave nothing; `available` names what there was.
    case nothingLeft(filter: String, available: [String])
    /// An edit's name is not one.
    case unknownEdit(String)
    /// An edit's value cannot be read; `expected` says what it should be.
    case invalidValue(edit: String, value: String, expected: String)
    /// The edit does not go with this kind of playlist.
    case wrongKind(edit: String, expected: String)
    /// A time lies outside the playlist.
    case timeOutside(edit: String, time: String, duration: String)
    /// Two playlists cannot stand on one timeline.
    case cannotStitch(reason: String)
}

extension PlaylistEditError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        switch self {
        case .nothingLeft(let filter, let available):
            "\(filter) would leave nothing; there is \(available.joined(separator: ", "))"
        case .unknownEdit(let name): "there is no edit named \(name)"
        case .invalidValue(let edit, let value, let expected):
            "\(edit) wants \(expected), not \"\(ResourceAddress(value).isHTTP ? "\(ResourceAddress(value))" : value)\""
        case .wrongKind(let edit, let expected): "\(edit) needs a \(expected) playlist"
        case .timeOutside(let edit, let time, let duration):
            "\(edit): \(time) s lies outside the \(duration) s there are"
        case .cannotStitch(let reason): "the playlists cannot be stitched: \(reason)"
        }
    }

    /// A stable short spelling for exit messages and answers.
    public var code: String {
        switch self {
        case .nothingLeft: "nothing-left"
        case .unknownEdit: "unknown-edit"
        case .invalidValue: "invalid-value"
        case .wrongKind: "wrong-kind"
        case .timeOutside: "time-outside"
        case .cannotStitch: "cannot-stitch"
        }
    }
}
