import HTTPTypes
import MediaTiming
import MediaTransport
import NetworkConditioning
import ReportFormat
import ResourceAddressing
import Synchronization

/// A registry of links with simulated network conditions: a shared one, and one for each stream whose address names
/// conditions.
final class LinkRegistry: Sendable {
    /// A stream and the conditions that its address names.
    struct Stream: Hashable {
        let source: ResourceAddress
        let conditions: String

        /// Returns a Boolean value that indicates whether this stream is another one whose address lacks user name and password.
        func isReported(as other: Stream) -> Bool {
            conditions == other.conditions && source.withoutUserInformation.text == other.source.text
        }
    }

    private struct Entry {
        let link: ConditionedLink
        let stream: Stream
        var lastUse: Duration
        /// A Boolean value that indicates whether the conditions were changed after creation, so that the link expires
        /// later.
        var wasChanged = false
        /// A Boolean value that indicates whether the link has the conditions of the shared link at any time.
        var followsShared: Bool

        func isExpired(at now: Duration) -> Bool {
            now - lastUse >= (wasChanged ? LinkRegistry.changedLinkLifetime : LinkRegistry.lifetime)
        }
    }

    /// The name of the conditions of the shared link, as those of another link, which then changes with it.
    static let sharedName = "default"

    private let entries = Mutex<[String: Entry]>([:])
    private let time: any TimeSource
    /// The link for all requests whose address names no conditions.
    let shared: ConditionedLink
    /// The conditions with which the server was started, such as those of a file.
    private let initial: LinkProfile

    /// The duration after which an unused link is replaced by a new one with the conditions of its address.
    private static let lifetime = Duration.seconds(600)
    private static let changedLinkLifetime = Duration.seconds(6 * 3_600)
    private static let maximumLinkCount = 256
    /// The maximum duration of a stalled transfer: players give up long before, and connections must not accumulate.
    private static let stallTimeout = Duration.seconds(60)

    init(shared: LinkProfile, time: any TimeSource = SystemTimeSource()) {
        self.time = time
        initial = shared
        self.shared = ConditionedLink(shared, time: time, stallTimeout: Self.stallTimeout)
    }

    /// The names of all conditions: those with which the server was started, and the presets.
    private var names: [String] {
        let presets = LinkProfile.presets.map(\.name)
        return presets.contains(initial.name) || initial.name.isEmpty ? presets : [initial.name] + presets
    }

    /// Returns the conditions with a name: those with which the server was started, or a preset.
    ///
    /// - Throws: ``ServerError`` if there are none.
    func profile(_ name: String) throws -> LinkProfile {
        // HTML forms encode spaces as plus signs.
        let decoded = name.replacing("+", with: " ")
        if !name.isEmpty, [name, decoded].contains(initial.name) { return initial }
        guard let profile = LinkProfile(preset: decoded) else {
            throw ServerError(
                .badRequest,
                "unknown-conditions",
                "there are no conditions named \(name.prefix(60))",
                hint: "the conditions are \(names.joined(separator: ", "))"
            )
        }
        return profile
    }

    /// Returns the conditions with a name for a link other than the shared one, whose conditions have the name ``sharedName``.
    private func profile(ofLink name: String) throws -> LinkProfile {
        try name == Self.sharedName ? shared.profile : profile(name)
    }

    /// Returns the identifier of the link of a stream, which the addresses of its children contain.
    static func identifier(_ stream: Stream) -> String {
        // The identifier distinguishes streams and does not need to be secret.
        String(StableHash(stream.conditions + "\n" + stream.source.text).value, radix: 36)
    }

    /// Returns the link with an identifier; creates one with the conditions of the address if there is none or it has
    /// expired.
    ///
    /// - Throws: ``ServerError`` for unknown conditions.
    func link(_ id: String, for stream: Stream) throws -> ConditionedLink {
        let profile = try self.profile(ofLink: stream.conditions)
        let followsShared = stream.conditions == Self.sharedName
        let now = time.now
        return entries.withLock { entries in
            if var entry = entries[id], !entry.isExpired(at: now) {
                entry.lastUse = now
                entries[id] = entry
                return entry.link
            }
            if entries.count >= Self.maximumLinkCount,
                let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                entries[oldest.key] = nil
            }
            // Read here again: a change of the shared conditions concerns the links that are registered by then.
            let present = followsShared ? shared.profile : profile
            let link = ConditionedLink(present, time: time, stallTimeout: Self.stallTimeout)
            entries[id] = Entry(link: link, stream: stream, lastUse: now, followsShared: followsShared)
            return link
        }
    }

    /// Changes the conditions of a link in use, or of the shared link.
    ///
    /// - Parameters:
    ///   - stream: The stream of the link, also with the address of its source as ``report`` has it, without user name and
    ///     password; `nil` for the shared link.
    ///   - name: The name of the new conditions; ``sharedName`` lets the link of a stream follow the shared link.
    /// - Throws: ``ServerError`` if there is no such link or there are no such conditions.
    func change(_ stream: Stream?, to name: String) throws {
        guard let stream else {
            let profile = try self.profile(name)
            return changeShared(to: profile)
        }
        let exact = Self.identifier(stream)
        try changeLinks(to: name) { entries in
            entries[exact] == nil ? entries.filter { $0.value.stream.isReported(as: stream) }.map(\.key) : [exact]
        }
    }

    /// Changes the conditions of the link with an identifier.
    ///
    /// - Parameters:
    ///   - id: The identifier, as ``report`` has it.
    ///   - name: The name of the new conditions; ``sharedName`` lets the link follow the shared link.
    /// - Throws: ``ServerError`` if there is no such link or there are no such conditions.
    func change(link id: String, to name: String) throws {
        try changeLinks(to: name) { _ in [id] }
    }

    private func changeShared(to profile: LinkProfile) {
        shared.change(to: profile)
        let followers = entries.withLock { entries in entries.values.filter(\.followsShared).map(\.link) }
        for link in followers { link.change(to: profile) }
    }

    /// Changes the conditions of the links with the identifiers that a closure returns.
    private func changeLinks(to name: String, _ identifiers: ([String: Entry]) -> [String]) throws {
        let profile = try self.profile(ofLink: name)
        let links = entries.withLock { entries in
            let changed = identifiers(entries)
            for id in changed {
                entries[id]?.wasChanged = true
                entries[id]?.followsShared = name == Self.sharedName
            }
            return changed.compactMap { entries[$0]?.link }
        }
        guard !links.isEmpty else { throw ServerError(.notFound, "not-found", "there is no link for this stream") }
        for link in links { link.change(to: profile) }
    }

    /// The report of all links and presets, for the console.
    var report: ReportValue {
        let now = time.now
        let links = entries.withLock { entries in
            entries.filter { !$0.value.isExpired(at: now) }.sorted { $0.key < $1.key }.map { id, entry in
                ReportValue.fields([
                    "id": .string(id),
                    "url": .string(entry.stream.source.withoutUserInformation.text),
                    "named": .string(entry.stream.conditions),
                    "conditions": .string(entry.link.profile.name),
                    "default": entry.followsShared ? ReportValue.bool(true) : nil,
                    "transmittedBytes": .integer(entry.link.transmittedByteCount),
                ])
            }
        }
        return .fields([
            "presets": .strings(names),
            "shared": .string(shared.profile.name),
            "links": .array(links),
        ])
    }
}
