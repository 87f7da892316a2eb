import CostOperations
import HLSPlaylist
import PlaylistEditing
import ResourceAddressing

/// An edit with a value that depends on the size of the playlist, a playlist to edit, and the effect.
///
/// The cost of an edit that changes nothing, or that is refused, is not the cost of the edit. Each case therefore
/// declares its effect, which its operation verifies. Each edit has at least one case that changes the playlist: it has
/// the name `edit/EDIT/PLAYLIST`, and other cases have the name of the effect between the two.
struct EditCase {
    /// An effect on a playlist.
    enum Effect: String {
        /// The result differs from the playlist.
        case changes
        /// The result is the playlist.
        case leaves = "unchanged"
        /// The edit throws an error, because nothing would remain.
        case refuses = "refused"
        /// The result is a playlist, which is not compared.
        case applies = "not-compared"
    }

    /// The name of the edit.
    let edit: String
    /// The name of the playlist and, if there are several values for it, of the value.
    let name: String
    /// The effect.
    let effect: Effect
    /// The number of entries of the smaller playlist.
    let size: Int
    /// A closure that returns the value for a number of entries.
    let value: (_ count: Int) -> String
    /// A closure that returns the playlist with about the given number of entries, and the one that the edit inserts.
    let input: (_ count: Int) throws -> Input

    /// The playlists of a case.
    enum Input {
        /// A media playlist, and the playlist with the name `o`.
        case media(MediaPlaylist, inserted: MediaPlaylist)
        /// A multivariant playlist.
        case multivariant(MultivariantPlaylist)
    }

    /// The operation that applies the edit and verifies its effect.
    var operation: CostOperation {
        let path = effect == .changes ? [edit, name] : [edit, effect.rawValue, name]
        return CostOperation("edit/" + path.joined(separator: "/"), size: size) { count in
            let plan = EditPlan([try PlaylistEdit(name: edit, value: value(count))])
            let input = try input(count)
            return { try verify(plan, input) }
        }
    }

    /// Applies an edit and verifies the effect.
    ///
    /// - Throws: The error of an edit that must not be refused.
    private func verify(_ plan: EditPlan, _ input: Input) throws {
        let result: (before: [UInt8], after: [UInt8])
        do {
            result = try Self.bytes(of: input, after: plan)
        } catch {
            guard effect == .refuses else { throw error }
            return
        }
        let (before, after) = result
        switch effect {
        case .changes: precondition(before != after, "\(edit) changes nothing in \(name)")
        case .leaves: precondition(before == after, "\(edit) changes \(name)")
        case .refuses: preconditionFailure("\(edit) is not refused for \(name)")
        case .applies: precondition(!after.isEmpty, "\(edit) leaves nothing of \(name)")
        }
    }

    /// Returns the bytes of a playlist before and after an edit.
    ///
    /// - Throws: The error of the edit.
    private static func bytes(of input: Input, after plan: EditPlan) throws -> (before: [UInt8], after: [UInt8]) {
        switch input {
        case .media(let playlist, let inserted):
            let edited = try plan.applied(to: playlist, sources: ["o": inserted], date: CostOperation.date)
            return (playlist.bytes, edited.bytes)
        case .multivariant(let playlist):
            let edited = try plan.applied(to: playlist)
            return (playlist.bytes, edited.bytes)
        }
    }
}

extension EditCase {
    /// The address of the edited playlists, whose query `carry-query` adds to other addresses.
    private static let address = "https://h/v/list.m3u8?p0=1&p1=1&p2=1&p3=1"

    /// Returns a case with a media playlist of a shape.
    ///
    /// - Parameters:
    ///   - edit: The name of the edit.
    ///   - shape: The shape of the playlist.
    ///   - effect: The effect.
    ///   - size: The number of entries of the smaller playlist.
    ///   - inserted: The shape of the playlist that the edit inserts, and the number of its entries; `nil` for the
    ///     edited playlist.
    ///   - value: A closure that returns the value for a number of entries.
    /// - Returns: The case.
    static func ofMedia(
        _ edit: String,
        _ shape: PlaylistShape,
        _ effect: Effect = .changes,
        size: Int = 150,
        inserting inserted: (shape: PlaylistShape, count: Int)? = nil,
        _ value: @escaping (Int) -> String
    ) -> EditCase {
        EditCase(edit: edit, name: shape.name, effect: effect, size: size, value: value) { count in
            let playlist = try mediaPlaylist(shape, count, at: address)
            guard let inserted else { return .media(playlist, inserted: playlist) }
            let other = try mediaPlaylist(inserted.shape, inserted.count, at: "https://h/o/list.m3u8")
            return .media(playlist, inserted: other)
        }
    }

    /// Returns a case of an edit of a media playlist whose address has a long query.
    ///
    /// - Parameters:
    ///   - edit: The name of the edit.
    ///   - shape: The shape of the playlist.
    ///   - value: The value.
    /// - Returns: The case, in which the number of entries is that of the parameters.
    static func ofLongQuery(_ edit: String, _ shape: PlaylistShape, _ value: String) -> EditCase {
        EditCase(edit: edit, name: shape.name, effect: .changes, size: 150, value: { _ in value }) { count in
            let query = repeated(count) { "p\($0)=1&" }
            let playlist = try mediaPlaylist(shape, count, at: "https://h/v/list.m3u8?" + query)
            return .media(playlist, inserted: playlist)
        }
    }

    /// Returns a media playlist of a shape with an address.
    ///
    /// - Parameters:
    ///   - shape: The shape.
    ///   - count: The number of entries.
    ///   - address: The address.
    /// - Returns: The playlist.
    /// - Throws: The error of the parser.
    private static func mediaPlaylist(
        _ shape: PlaylistShape,
        _ count: Int,
        at address: String
    ) throws -> MediaPlaylist {
        let context = PlaylistContext(address: ResourceAddress(address))
        return try MediaPlaylist(parsing: shape.bytes(count), context: context)
    }

    /// Returns a case with a multivariant playlist of a shape.
    ///
    /// - Parameters:
    ///   - edit: The name of the edit.
    ///   - shape: The shape of the playlist.
    ///   - effect: The effect.
    ///   - suffix: The name of the value, if there are several values for the playlist.
    ///   - value: A closure that returns the value for a number of entries.
    /// - Returns: The case.
    static func ofMultivariant(
        _ edit: String,
        _ shape: PlaylistShape,
        _ effect: Effect = .changes,
        suffix: String = "",
        _ value: @escaping (Int) -> String
    ) -> EditCase {
        EditCase(edit: edit, name: shape.name + suffix, effect: effect, size: 60, value: value) { count in
            let context = PlaylistContext(address: ResourceAddress(address))
            return .multivariant(try MultivariantPlaylist(parsing: shape.bytes(count), context: context))
        }
    }

    /// Returns the shape with a name among those of a kind of playlists.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - shapes: The shapes.
    /// - Returns: The shape.
    static func shape(_ name: String, among shapes: [PlaylistShape]) -> PlaylistShape {
        guard let shape = shapes.first(where: { $0.name == name }) else { fatalError("there is no shape \(name)") }
        return shape
    }
}
