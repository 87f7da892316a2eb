import DASHTranslation
import MediaTiming
import ResourceAddressing
import Synchronization

/// The presentations that requests share, of which the least recently used are removed.
package final class PresentationStore: Sendable {
    private struct State {
        /// The sessions; the most recently used one is the last.
        var sessions: [PresentationSession] = []
    }

    /// The options of all presentations.
    package let options: PresentationOptions
    private let state = Mutex(State())

    /// Creates an empty store.
    package init(options: PresentationOptions = PresentationOptions()) { self.options = options }

    /// Returns the session of a manifest; `nil` if it is not in memory.
    func existingSession(for address: ResourceAddress) -> PresentationSession? {
        let address = address.withoutFragment
        return state.withLock { state in
            guard let index = state.sessions.lastIndex(where: { $0.address == address }) else { return nil }
            let session = state.sessions.remove(at: index)
            state.sessions.append(session)
            return session
        }
    }

    /// Returns the session of a manifest, which is created if it is not in memory.
    func session(for address: ResourceAddress) -> PresentationSession {
        if let known = existingSession(for: address) { return known }
        var stored: TranslationState?
        do {
            stored = try options.stateFile?.state(of: PresentationSession.stateKey(of: address))
        } catch {
            options.reportProblem("\(error)")
        }
        let new = PresentationSession(
            address,
            options: options,
            translationState: stored ?? TranslationState()
        )
        let session: PresentationSession = state.withLock { state in
            // Another request may have created it meanwhile.
            if let known = state.sessions.last(where: { $0.address == new.address }) { return known }
            state.sessions.append(new)
            return new
        }
        // Sessions whose requests failed count as well.
        removeExcess()
        return session
    }

    /// Removes the least recently used sessions beyond the limits; the last one stays.
    func removeExcess() {
        state.withLock { state in
            var count = 0
            var bytes: Int64 = 0
            var first = state.sessions.endIndex
            while first > state.sessions.startIndex {
                count += 1
                bytes +|= Int64(clamping: state.sessions[first - 1].byteCount)
                guard count <= 1 || count <= options.presentationCount && bytes <= options.memorySize.bytes else {
                    break
                }
                first -= 1
            }
            state.sessions.removeFirst(first)
        }
    }
}
