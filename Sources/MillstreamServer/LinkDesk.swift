import HTTPTypes
import MediaTiming
import MediaTransport
import NetworkConditioning
import ReportFormat
import ResourceAddressing
import Synchronization

/// The links under conditions that players get their media over: one for everybody, and one for each stream whose address
/// asks for it.
final class LinkDesk: Sendable {
    /// A stream under conditions, as its address names them.
    struct Stream: Hashable {
        let source: ResourceAddress
        let conditions: String
    }

    private struct Entry {
        let link: ConditionedLink
        let stream: Stream
        var lastUse: Duration
        /// Whether somebody changed it since: then a pause must not change it back.
        var wasChanged = false

        func isOver(at now: Duration) -> Bool {
            now - lastUse >= (wasChanged ? LinkDesk.lifetimeOfChanges : LinkDesk.lifetime)
        }
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let time: any TimeSource
    /// The link of all players whose address names none.
    let shared: ConditionedLink

    /// A link that nobody used for so long begins anew, as its address says.
    private static let lifetime = Duration.seconds(600)
    private static let lifetimeOfChanges = Duration.seconds(6 * 3_600)
    private static let mostLinks = 256
    /// A player gives up long before; without an end, connections would pile up.
    private static let patience = Duration.seconds(60)

    init(shared: LinkProfile, time: any TimeSource = SystemTimeSource()) {
        self.time = time
        self.shared = ConditionedLink(shared, time: time, patience: Self.patience)
    }

    /// Finds conditions by their name.
    ///
    /// - Throws: ``ServerError`` where nothing has it.
    static func profile(_ name: String) throws -> LinkProfile {
        // A form writes blanks as plus signs.
        guard let profile = LinkProfile(preset: name.replacing("+", with: " ")) else {
            let names = LinkProfile.presets.map(\.name).joined(separator: ", ")
            throw ServerError(
                .badRequest,
                "unknown-conditions",
                "there are no conditions named \(name.prefix(60))",
                hint: "there are \(names)"
            )
        }
        return profile
    }

    /// The identifier of a stream's link, as the addresses of its children carry it.
    static func identifier(_ stream: Stream) -> String {
        // It need not be secret, and only tells streams apart.
        String(StableHash(stream.conditions + "\n" + stream.source.text).value, radix: 36)
    }

    /// The link with an identifier; one that is not there, or that nobody used lately, is made as the address names it.
    ///
    /// - Throws: ``ServerError`` for conditions that nobody knows.
    func link(_ id: String, for stream: Stream) throws -> ConditionedLink {
        let profile = try Self.profile(stream.conditions)
        let now = time.now
        return entries.withLock { entries in
            if var entry = entries[id], !entry.isOver(at: now) {
                entry.lastUse = now
                entries[id] = entry
                return entry.link
            }
            if entries.count >= Self.mostLinks, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
                entries[oldest.key] = nil
            }
            let link = ConditionedLink(profile, time: time, patience: Self.patience)
            entries[id] = Entry(link: link, stream: stream, lastUse: now)
            return link
        }
    }

    /// Changes the conditions of a stream that plays, or of everybody.
    ///
    /// - Parameters:
    ///   - id: The identifier of the link; `nil` for the shared one.
    ///   - name: The new conditions.
    /// - Throws: ``ServerError`` where there is no such link, or there are no such conditions.
    func change(_ id: String?, to name: String) throws {
        let profile = try Self.profile(name)
        guard let id else { return shared.change(to: profile) }
        let link = entries.withLock { entries in
            entries[id]?.wasChanged = true
            return entries[id]?.link
        }
        guard let link else { throw ServerError(.notFound, "not-found", "nothing plays over that link") }
        link.change(to: profile)
    }

    /// What there is, for the console.
    var report: ReportValue {
        let links = entries.withLock { entries in
            entries.sorted { $0.key < $1.key }.map { id, entry in
                ReportValue.fields([
                    "id": .string(id),
                    "url": .string(entry.stream.source.text),
                    "named": .string(entry.stream.conditions),
                    "conditions": .string(entry.link.profile.name),
                ])
            }
        }
        return .fields([
            "presets": .strings(LinkProfile.presets.map(\.name)),
            "shared": .string(shared.profile.name),
            "links": .array(links),
        ])
    }
}
