import Foundation

/// Files of the system that behave badly on purpose.
enum DeviceFiles {
    /// A disk that is always full.
    static let hasFullDisk = FileManager.default.fileExists(atPath: "/dev/full")
}
