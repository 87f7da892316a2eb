import Foundation
import MediaTiming
import MediaTransport
import StreamingEngine

extension Player.Environment {
    /// The machine's clock, its network and its files, and a pipeline that decodes nothing.
    ///
    /// Connections and cookies are shared by all assets that ask for nothing special; cookies are kept in memory only. Files
    /// are read where the asset itself is one: a playlist from elsewhere must not name files of this machine.
    public static var standard: Player.Environment {
        let time = SystemTimeSource()
        return Player.Environment(
            time: time,
            makeLoading: { address, options in
                let http = SharedConnections.transport(for: address, options)
                let scheme = SchemeTransport(http: http, file: address.filePath == nil ? nil : FileTransport())
                return ResourceLoading(options.authorizing(scheme, for: address))
            },
            makePipeline: { UndecodedPipeline(time: time) },
            makeSessionID: { UUID().uuidString },
            // Finer than a clock of the world is, a date is only longer to read.
            date: { .milliseconds(Int64((Date().timeIntervalSince1970 * 1_000).rounded())) }
        )
    }
}
