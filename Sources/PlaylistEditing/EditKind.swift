import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// A kind of edit: its definition, the type of its value, and its effect.
///
/// An edit has an effect on multivariant playlists, on media playlists, or on both.
struct EditKind<Value: Sendable>: AnyEditKind {
    typealias MultivariantStep =
        @Sendable (MultivariantPlaylist, Value, EditContext) throws(PlaylistEditError) -> MultivariantPlaylist
    typealias MediaStep = @Sendable (MediaPlaylist, Value, EditContext) throws(PlaylistEditError) -> MediaPlaylist
    typealias Alignment = TrackAlignment<Value>

    let definition: EditDefinition
    private let type: EditValueType<Value>
    private let multivariant: MultivariantStep?
    private var media: MediaStep?
    private var alignment: Alignment?
    private var dependsOnDate = false
    private var continuesTimeline = false
    private var needsKeys = false
    private var cutTimes: (@Sendable (Value) -> [MediaTime])?

    /// Creates a kind of edit that changes multivariant playlists only, such as a filter of variants.
    init(
        filter name: String,
        _ type: EditValueType<Value>,
        title: String,
        summary: String,
        examples: [String] = [],
        needsKeys: Bool = false,
        multivariant: @escaping MultivariantStep
    ) {
        definition = EditDefinition(
            name: name,
            title: title,
            summary: summary,
            target: .multivariant,
            parameter: type.parameter,
            examples: examples
        )
        self.type = type
        self.multivariant = multivariant
        self.needsKeys = needsKeys
    }

    /// Creates a kind of edit that removes variants.
    ///
    /// - Parameters:
    ///   - name: The name of the edit.
    ///   - type: The type of the value.
    ///   - title: The title of the control in the web console.
    ///   - summary: The effect as an imperative sentence.
    ///   - examples: Valid values.
    ///   - isIncluded: A closure that returns whether a variant remains for a value. I-frame variants remain unless their
    ///     video is higher than that of all remaining variants.
    init(
        filter name: String,
        _ type: EditValueType<Value>,
        title: String,
        summary: String,
        examples: [String] = [],
        keepingVariants isIncluded: @escaping @Sendable (Variant, Value) -> Bool
    ) {
        let format = type.format
        self.init(
            filter: name,
            type,
            title: title,
            summary: summary,
            examples: examples,
            multivariant: { (playlist, value, _) throws(PlaylistEditError) in
                let filter = VariantFilter(name: "\(name) \(format(value))", isIncluded: { isIncluded($0, value) })
                return try playlist.filteringVariants(filter)
            }
        )
    }

    /// Creates a kind of edit that changes media playlists, and multivariant playlists if it has a step for them.
    ///
    /// - Parameters:
    ///   - name: The name of the edit.
    ///   - type: The type of the value.
    ///   - title: The title of the control in the web console.
    ///   - summary: The effect as an imperative sentence.
    ///   - examples: Valid values.
    ///   - multivariant: The effect on a multivariant playlist; `nil` if the edit does not change it.
    ///   - alignment: The rule by which the other tracks of a presentation are cut where the video is cut; `nil` if all
    ///     tracks have the same edit.
    ///   - dependsOnDate: Whether the effect changes with the date.
    ///   - continuesTimeline: Whether the effect on a live playlist depends on its earlier versions.
    ///   - cutTimes: A closure that returns the times in the value at which the edit cuts a playlist, or inserts
    ///     another one. Subtitles in a single file are divided there. The value is `nil` if only the playlist
    ///     determines the times.
    ///   - media: The effect on a media playlist.
    init(
        _ name: String,
        _ type: EditValueType<Value>,
        title: String,
        summary: String,
        examples: [String] = [],
        multivariant: MultivariantStep? = nil,
        alignment: Alignment? = nil,
        dependsOnDate: Bool = false,
        continuesTimeline: Bool = false,
        cutTimes: (@Sendable (Value) -> [MediaTime])? = nil,
        media: @escaping MediaStep
    ) {
        definition = EditDefinition(
            name: name,
            title: title,
            summary: summary,
            target: multivariant == nil ? .media : .both,
            parameter: type.parameter,
            examples: examples
        )
        self.type = type
        self.multivariant = multivariant
        self.media = media
        self.alignment = alignment
        self.dependsOnDate = dependsOnDate
        self.continuesTimeline = continuesTimeline
        self.cutTimes = cutTimes
    }

    /// Returns the edit with the given value.
    func callAsFunction(_ value: Value) -> PlaylistEdit {
        var steps = EditSteps()
        steps.dependsOnDate = dependsOnDate
        steps.continuesTimeline = continuesTimeline
        steps.needsKeys = needsKeys
        steps.cutTimes = cutTimes?(value) ?? []
        if let multivariant {
            steps.multivariant = { (playlist, context) throws(PlaylistEditError) in
                try multivariant(playlist, value, context)
            }
        }
        if let media {
            steps.media = { (playlist, context) throws(PlaylistEditError) in try media(playlist, value, context) }
        }
        if let alignment {
            steps.alignment = EditSteps.Alignment(
                includesVideo: alignment.includesVideo,
                dependsOnInserted: alignment.dependsOnInserted
            ) { video, inserted in
                alignment.edit(value, video, inserted)
            }
        }
        return PlaylistEdit(
            definition,
            value: type.format(value),
            source: type.source(value),
            steps: steps,
            replacement: { self(type.replacingSource(value, $0)) }
        )
    }

    func edit(parsing text: String) throws(PlaylistEditError) -> PlaylistEdit {
        guard let value = type.parse(text) else {
            let part = type.invalidPart(text)
            throw .invalidValue(
                edit: part?.name.map { "\($0) of \(definition.name)" } ?? definition.name,
                value: part?.value ?? text,
                expected: part?.expected ?? type.parameter?.form ?? EditSwitch.form
            )
        }
        return self(value)
    }
}

/// A kind of edit with a value of any type.
protocol AnyEditKind: Sendable {
    /// The name, the parameter and the documentation.
    var definition: EditDefinition { get }

    /// Returns the edit with the value that the text contains.
    func edit(parsing text: String) throws(PlaylistEditError) -> PlaylistEdit
}

/// The effects of an edit on playlists of each kind; `nil` for a kind that the edit does not change.
struct EditSteps: Sendable {
    var multivariant: (@Sendable (MultivariantPlaylist, EditContext) throws(PlaylistEditError) -> MultivariantPlaylist)?
    var media: (@Sendable (MediaPlaylist, EditContext) throws(PlaylistEditError) -> MediaPlaylist)?
    /// The rule by which the edit follows the video of a presentation; `nil` if all tracks have the same edit.
    var alignment: Alignment?
    /// A Boolean value that indicates whether the effect on a playlist changes with the date.
    var dependsOnDate = false
    /// A Boolean value that indicates whether the effect on a live playlist depends on its earlier versions.
    ///
    /// The playlist that is inserted may then be missing: the live playlist is preserved.
    var continuesTimeline = false
    /// A Boolean value that indicates whether the effect depends on the keys of the media playlists.
    var needsKeys = false
    /// The times at which the edit cuts a playlist, or inserts another one.
    var cutTimes: [MediaTime] = []

    struct Alignment: Sendable {
        let includesVideo: Bool
        let dependsOnInserted: Bool
        let edit: @Sendable (MediaPlaylist, MediaPlaylist?) -> PlaylistEdit?
    }
}

/// The rule by which the tracks of a presentation follow its video, because the boundaries of segments differ between
/// tracks.
struct TrackAlignment<Value: Sendable>: Sendable {
    /// A Boolean value that indicates whether the rule applies to the variants with video too, whose durations can differ.
    var includesVideo = false
    /// A Boolean value that indicates whether the rule depends on the playlist that is inserted into that of the video.
    var dependsOnInserted = false
    /// Returns the edit of the other tracks for the media playlist of the video before the edit, and the playlist that is inserted
    /// into it; `nil` for the same edit.
    let edit: @Sendable (Value, MediaPlaylist, MediaPlaylist?) -> PlaylistEdit?
}

/// The circumstances in which an edit is applied.
struct EditContext: Sendable {
    /// The maximum size of the result.
    let limits: PlaylistLimits
    /// The media playlists that edits insert, by name.
    var sources: [String: MediaPlaylist] = [:]
    /// The media playlist before all edits; `nil` for the one to which the edits are applied.
    var original: MediaPlaylist?
    /// The date at which the playlist is requested; `nil` if the caller has no clock.
    var date: ProgramDateTime?
    /// The keys that the media playlists of a presentation use; `nil` if they are unknown.
    var keys: Set<SessionKey>?
    /// The breaks of the earlier versions of a live playlist; `nil` if there are none.
    var breaks: BreakRecord?
    /// The delivery of partial segments; `nil` if no server delivers them.
    var parts: PartDelivery?

    /// Returns a playlist that an edit inserts.
    func insertedPlaylist(_ source: String) throws(PlaylistEditError) -> MediaPlaylist {
        guard let playlist = sources[source] ?? GapPlaylist.playlist(at: source) else {
            throw .cannotStitch(reason: "\(ResourceAddress(source)) was not loaded")
        }
        return playlist
    }
}
