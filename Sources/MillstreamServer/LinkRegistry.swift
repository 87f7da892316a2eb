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

        func isExpired(at now: Duration) -> Bool {
            now - lastUse >= (wasChanged ? LinkRegistry.changedLinkLifetime : LinkRegistry.lifetime)
        }
    }

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
        let profile = try self.profile(stream.conditions)
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
            let link = ConditionedLink(profile, time: time, stallTimeout: Self.stallTimeout)
            entries[id] = Entry(link: link, stream: stream, lastUse: now)
            return link
        }
    }

    /// Changes the conditions of a link in use, or of the shared link.
    ///
    /// - Parameters:
    ///   - stream: The stream of the link, also with the address of its source as ``report`` has it, without user name and
    ///     password; `nil` for the shared link.
    ///   - name: The name of the new conditions.
    /// - Throws: ``ServerError`` if there is no such link or there are no such conditions.
    func change(_ stream: Stream?, to name: String) throws {
        let profile = try self.profile(name)
        guard let stream else { return shared.change(to: profile) }
        let links = entries.withLock { entries in
            let exact = Self.identifier(stream)
            let changed =
                entries[exact] == nil ? entries.filter { $0.value.stream.isReported(as: stream) }.map(\.key) : [exact]
            for id in changed { entries[id]?.wasChanged = true }
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
