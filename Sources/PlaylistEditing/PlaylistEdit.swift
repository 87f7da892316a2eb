/// An edit of a playlist: one of the ``definitions``, with a value.
///
/// Each edit has a name, which is the same on the command line, in URLs of the server and in the web console.
public struct PlaylistEdit: Sendable {
    /// The definition of the edit: its name, its parameter and its documentation.
    public let definition: EditDefinition
    /// The value in its normalized form, which ``init(name:value:)`` parses; empty for edits without a parameter.
    public let value: String
    /// The name of the other playlist that the edit inserts, or `nil` if it inserts none.
    public let source: String?
    let steps: EditSteps
    private let replacement: @Sendable (String) -> PlaylistEdit

    init(
        _ definition: EditDefinition,
        value: String,
        source: String?,
        steps: EditSteps,
        replacement: @escaping @Sendable (String) -> PlaylistEdit
    ) {
        self.definition = definition
        self.value = value
        self.source = source
        self.steps = steps
        self.replacement = replacement
    }

    /// Creates an edit from its name and value.
    ///
    /// - Parameters:
    ///   - name: One of ``names``, or that of a registered ``CustomEdit``.
    ///   - value: The value of the edit; empty, `1` or `true` for edits without a parameter.
    /// - Throws: ``PlaylistEditError``, whose message contains the expected form.
    public init(name: String, value: String) throws(PlaylistEditError) {
        guard let kind = Self.kind(name) else { throw .unknownEdit(name) }
        self = try kind.edit(parsing: value)
    }

    /// Returns the edit with a name and a value; `nil` for an edit without a parameter that the value `0` or `false` leaves out.
    ///
    /// - Parameters:
    ///   - name: One of ``names``, or that of a registered ``CustomEdit``.
    ///   - value: The value.
    /// - Returns: The edit, if there is one to apply.
    /// - Throws: ``PlaylistEditError``, whose message contains the expected form.
    package static func edit(named name: String, _ value: String) throws(PlaylistEditError) -> PlaylistEdit? {
        guard let kind = Self.kind(name) else { throw .unknownEdit(name) }
        if kind.definition.parameter == nil, EditSwitch.isOff(value) { return nil }
        return try kind.edit(parsing: value)
    }

    /// The definitions of the edits, in the order in which help and documentation list them, without those that an application has
    /// registered.
    public static let definitions: [EditDefinition] = kinds.map(\.definition)

    /// The names of these edits.
    public static let names: [String] = definitions.map(\.name)

    /// The definitions of all edits that have a name in this process: ``definitions``, and those of registered edits.
    package static var knownDefinitions: [EditDefinition] { definitions + registeredKinds.map(\.definition) }

    /// Returns a Boolean value that indicates whether an edit has a name, also a registered one.
    package static func isKnown(_ name: String) -> Bool { kind(name) != nil }

    private static func kind(_ name: String) -> (any AnyEditKind)? {
        kindsByName[name] ?? registeredKinds.first { $0.definition.name == name }
    }

    private static let kindsByName = Dictionary(
        kinds.map { ($0.definition.name, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    /// The name and value that ``init(name:value:)`` parses.
    public var nameAndValue: (name: String, value: String) { (definition.name, value) }

    /// A Boolean value that indicates whether the edit filters the variants instead of changing media playlists.
    public var isFilter: Bool { definition.target == .multivariant }

    /// A Boolean value that indicates whether the edit can change the times of segments.
    var movesSegments: Bool {
        switch definition.target {
        case .multivariant: false
        // The effect of an edit of an application is not known.
        case .both: !Self.names.contains(definition.name)
        case .media: !Self.namesWithoutMoves.contains(definition.name)
        }
    }

    /// Returns the same edit with another source; an edit without a source is unchanged.
    public func replacingSource(_ source: String) -> PlaylistEdit { replacement(source) }
}

extension PlaylistEdit: Hashable {
    /// Returns a Boolean value that indicates whether two edits have the same name and value.
    public static func == (left: PlaylistEdit, right: PlaylistEdit) -> Bool { left.nameAndValue == right.nameAndValue }

    /// Hashes the name and the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(definition.name)
        hasher.combine(value)
    }
}
