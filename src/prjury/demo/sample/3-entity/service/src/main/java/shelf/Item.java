package shelf;

import javax.persistence.Entity;
import javax.persistence.Id;
import javax.sql.DataSource;

@Entity
public class Item {

	@Id
	private Long id;

	private transient DataSource source;

}
