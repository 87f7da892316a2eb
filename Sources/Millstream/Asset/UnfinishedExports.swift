#if Playback
import Foundation

/// The files and folders of exports that are not complete, which are named `.NAME.PID` after the process that writes them.
enum UnfinishedExports {
    /// Removes those of processes that no longer exist, such as a process that was killed.
    ///
    /// - Parameter path: The absolute path of the file or folder to export.
    static func removeAbandoned(of path: String) {
        let file = URL(fileURLWithPath: path)
        let folder = file.deletingLastPathComponent()
        let prefix = ".\(file.lastPathComponent)."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let digits = String(name.dropFirst(prefix.count))
            guard let process = pid_t(digits), process > 0, "\(process)" == digits, !exists(process) else { continue }
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    /// Returns a Boolean value that indicates whether a process exists, also one of another user.
    private static func exists(_ process: pid_t) -> Bool { kill(process, 0) == 0 || errno != ESRCH }
}
#endif
