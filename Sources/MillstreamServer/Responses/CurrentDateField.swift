import Foundation
import MediaTransport
import Synchronization

/// The value of the header field `Date` (RFC 9110 §6.6.1), which is formatted once in a second.
enum CurrentDateField {
    private static let known = Mutex((second: UnixSeconds(0), text: text(of: UnixSeconds(0))))

    /// The value at the current time.
    static var value: String {
        let now = UnixSeconds.now
        return known.withLock { known in
            if known.second != now { known = (now, text(of: now)) }
            return known.text
        }
    }

    /// Returns a time in the preferred form of dates (RFC 9110 §5.6.7).
    static func text(of time: UnixSeconds) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.weekday, .day, .month, .year, .hour, .minute, .second],
            from: Date(timeIntervalSince1970: Double(time.rawValue))
        )
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func digits(_ value: Int?, _ count: Int = 2) -> String {
            let text = String(value ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let (day, month) = (days[(parts.weekday ?? 1) - 1], months[(parts.month ?? 1) - 1])
        let time = [parts.hour, parts.minute, parts.second].map { digits($0) }.joined(separator: ":")
        return "\(day), \(digits(parts.day)) \(month) \(digits(parts.year, 4)) \(time) GMT"
    }
}
