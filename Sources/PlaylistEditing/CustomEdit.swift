public import HLSPlaylist
import Synchronization

/// An edit that an application defines, in addition to those of ``PlaylistEdit/definitions``.
///
/// After its registration, the edit can be used by its name like the other edits. It can be part of ``EditPlan`` values
/// and their JSON, of URLs of a `LocalOrigin`, and of the edits of players and downloads of the application. The result
/// of the edit is parsed with the URL and the variables of the edited playlist, so that its relative URIs are resolved
/// like those of the source.
///
/// ```swift
/// let withoutDates = CustomEdit(
///     "without-dates",
///     title: "Without dates",
///     summary: "Remove the dates of segments.",
///     media: { playlist, _ in try EditPlan([.stripTags(["EXT-X-PROGRAM-DATE-TIME"])]).applied(to: playlist) }
/// )
/// try PlaylistEdit.register(withoutDates)
/// let plan = try EditPlan([.duration(MediaTime(seconds: 30)), PlaylistEdit(name: "without-dates", value: "")])
/// ```
public struct CustomEdit: Sendable {
    /// A function that returns the edited multivariant playlist for a playlist and the value of the edit.
    public typealias MultivariantChange = @Sendable (MultivariantPlaylist, String) throws -> MultivariantPlaylist
    /// A function that returns the edited media playlist for a playlist and the value of the edit.
    public typealias MediaChange = @Sendable (MediaPlaylist, String) throws -> MediaPlaylist

    /// The definition, from which the parameters of URLs and the controls of the web console are derived.
    public let definition: EditDefinition
    let kind: any AnyEditKind

    /// Creates an edit of media playlists, and of multivariant playlists if it has a change for them.
    ///
    /// - Parameters:
    ///   - name: The name: a lowercase letter, followed by lowercase letters, digits and hyphens.
    ///   - title: The title of the control in the web console.
    ///   - summary: The effect as an imperative sentence.
    ///   - parameter: The placeholder for the value in usage texts, such as `NAMES`; `nil` for an edit without a value.
    ///   - form: The form of valid values, for error messages.
    ///   - isValid: Returns whether a value is valid.
    ///   - multivariant: The edit of multivariant playlists, before the URLs of their media playlists are rewritten; `nil` if they
    ///     are unchanged.
    ///   - media: The edit of each media playlist. It must have the same result whenever it is called with equal playlists, because
    ///     every client and every reload of a live playlist has a result of its own.
    public init(
        _ name: String,
        title: String,
        summary: String,
        parameter: String? = nil,
        form: String = "a text",
        isValid: @escaping @Sendable (String) -> Bool = { _ in true },
        multivariant: MultivariantChange? = nil,
        media: @escaping MediaChange
    ) {
        let kind = EditKind(
            name,
            Self.type(parameter, form, isValid),
            title: title,
            summary: summary,
            multivariant: multivariant.map { Self.step(name, $0) },
            media: { (playlist, value, context) throws(PlaylistEditError) in
                let result = try Self.result(of: name) { try media(playlist, value) }
                return try Playlist.media(result).parsed(as: playlist.context, name, context.limits).asMedia(
                    after: name
                )
            }
        )
        definition = kind.definition
        self.kind = kind
    }

    /// Creates an edit of multivariant playlists only, such as a filter of variants.
    ///
    /// - Parameters:
    ///   - name: The name: a lowercase letter, followed by lowercase letters, digits and hyphens.
    ///   - title: The title of the control in the web console.
    ///   - summary: The effect as an imperative sentence.
    ///   - parameter: The placeholder for the value in usage texts, such as `NAMES`; `nil` for an edit without a value.
    ///   - form: The form of valid values, for error messages.
    ///   - isValid: Returns whether a value is valid.
    ///   - multivariant: The edit of multivariant playlists, before the URLs of their media playlists are rewritten.
    public init(
        filter name: String,
        title: String,
        summary: String,
        parameter: String? = nil,
        form: String = "a text",
        isValid: @escaping @Sendable (String) -> Bool = { _ in true },
        multivariant: @escaping MultivariantChange
    ) {
        let kind = EditKind(
            filter: name,
            Self.type(parameter, form, isValid),
            title: title,
            summary: summary,
            multivariant: Self.step(name, multivariant)
        )
        definition = kind.definition
        self.kind = kind
    }

    /// Returns the step of an edit that changes multivariant playlists.
    private static func step(
        _ name: String,
        _ change: @escaping MultivariantChange
    ) -> EditKind<String>.MultivariantStep {
        { (playlist, value, context) throws(PlaylistEditError) in
            let result = try Self.result(of: name) { try change(playlist, value) }
            return try Playlist.multivariant(result).parsed(as: playlist.context, name, context.limits)
                .asMultivariant(after: name)
        }
    }

    private static func type(
        _ parameter: String?,
        _ form: String,
        _ isValid: @escaping @Sendable (String) -> Bool
    ) -> EditValueType<String> {
        EditValueType(
            parameter: parameter.map { EditParameter(.text, placeholder: $0, form: form) },
            parse: { text in
                guard parameter == nil else { return isValid(text) ? text : nil }
                return EditSwitch.isOn(text) ? "" : nil
            },
            format: { $0 }
        )
    }

    /// Returns the result of a change, whose errors become those of an edit.
    private static func result<Result>(
        of name: String,
        _ change: () throws -> Result
    ) throws(PlaylistEditError) -> Result {
        do {
            return try change()
        } catch let error as PlaylistEditError {
            throw error
        } catch {
            throw .failed(edit: name, reason: "\(error)")
        }
    }
}

extension PlaylistEdit {
    /// The edits that are registered, in order.
    private static let registered = Mutex<[CustomEdit]>([])

    /// The names of parameters in URLs that are not edits.
    private static let reservedNames: Set<String> = [
        "url", "segments", "redundant", "conditions", "link", "define", "parent", "presentation", "expires",
        "signature",
    ]

    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// Registers an edit of the application, which can then be used by its name.
    ///
    /// An application must register each edit once, before it uses the edit.
    ///
    /// - Parameter edit: The edit.
    /// - Throws: ``PlaylistEditError/invalidName(_:)`` if the name has an invalid form, or is the name of another edit
    ///   or of a parameter.
    public static func register(_ edit: CustomEdit) throws(PlaylistEditError) {
        let name = edit.definition.name
        let isName =
            (name.utf8.first.map { letters.contains($0) } ?? false)
            && name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-") }
        let isFree = registered.withLock { known in
            guard isName, !reservedNames.contains(name), !names.contains(name),
                !known.contains(where: { $0.definition.name == name })
            else { return false }
            known.append(edit)
            return true
        }
        guard isFree else { throw .invalidName(name) }
    }

    /// The kinds that are registered.
    static var registeredKinds: [any AnyEditKind] { registered.withLock { $0.map(\.kind) } }
}

extension Playlist {
    /// Returns the result of an edit of an application, parsed with the URL and the variables of the edited playlist.
    ///
    /// - Throws: ``PlaylistEditError/tooLarge(_:)`` if it exceeds a limit.
    fileprivate func parsed(
        as context: PlaylistContext,
        _ name: String,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> Playlist {
        do throws(PlaylistParsingError) {
            return try Playlist.parse(bytes, context: context, limits: limits)
        } catch {
            throw PlaylistEditError(error, edit: name)
        }
    }
}
